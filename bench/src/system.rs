//! What the system tells of this process.

/// The number after a name at the beginning of a line.
pub fn number(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// A value of `/proc/self/status`, in KiB.
pub fn status(name: &str) -> u64 {
    number(&read("/proc/self/status"), name).unwrap_or_default()
}

/// Processor seconds of this process, in user mode and in the kernel.
pub fn seconds() -> [f64; 2] {
    let text = read("/proc/self/stat");
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let mut ticks = after_name.split_whitespace().skip(11);
    std::array::from_fn(|_| {
        let ticks = ticks.next().and_then(|text| text.parse::<f64>().ok());
        ticks.unwrap_or_default() / 100.0
    })
}

/// How long the one thread of this process has run.
pub fn nanos() -> u64 {
    number(&read("/proc/self/schedstat"), "").unwrap_or_default()
}

/// The first and the last core that this process may use.
pub fn cores() -> Option<(usize, usize)> {
    let text = read("/proc/self/status");
    let list = text
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut cores = list.trim().split([',', '-']).map(str::parse);
    let first = cores.next()?.ok()?;
    Some((first, cores.next_back().map_or(Some(first), Result::ok)?))
}

/// The sockets of this process, where the system lists them.
pub fn open_sockets() -> usize {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|it| it.to_string_lossy().starts_with("socket:"))
        .count()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
