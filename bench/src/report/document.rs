//! `BENCHMARKS.md`, and what a reader of figures wants to know of their origin.

use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::clients::Failure;
use crate::process::Bench;

/// Puts a text between `<!-- run:begin -->` and `<!-- run:end -->` of the document.
pub fn write(text: &str) -> Result<(), Failure> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../BENCHMARKS.md");
    let old = std::fs::read_to_string(path)?;
    std::fs::write(path, replace(&old, text)?)?;
    Ok(())
}

fn replace(old: &str, text: &str) -> Result<String, Failure> {
    let (begin, end) = ("<!-- run:begin -->\n", "<!-- run:end -->");
    let missing = || format!("BENCHMARKS.md has no {begin}");
    let (head, rest) = old.split_once(begin).ok_or_else(missing)?;
    let (_, tail) = rest.split_once(end).ok_or_else(missing)?;
    Ok(format!("{head}{begin}{}\n{end}{tail}", text.trim_end()))
}

/// Machine, date and versions.
pub async fn circumstances(bench: &Bench) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let pinned = if bench.pinned() {
        "server and client have a core each"
    } else {
        "server and client are not pinned"
    };
    let valgrind = if bench.valgrind {
        version("valgrind").await
    } else {
        "no valgrind, so that instructions are not counted".to_owned()
    };
    format!(
        "Measured on {} with {}, {cores} cores, {}, Linux {}; {pinned}. {}; {valgrind}.\n",
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
        value("/proc/cpuinfo", "model name"),
        value("/proc/meminfo", "MemTotal"),
        kernel.trim(),
        version("rustc").await,
    )
}

fn value(path: &str, name: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let value = line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
    value.unwrap_or_else(|| format!("an unknown {name}"))
}

async fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output().await;
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// Builds the program that has octocrab, beside this one.
pub async fn octocrab(program: &Path) -> Result<PathBuf, Failure> {
    let release = program.parent().ok_or("a program is in a folder")?;
    let target = release.parent().ok_or("so is that folder")?;
    let built = Command::new(env!("CARGO"))
        .args("build --release --quiet --locked --manifest-path".split(' '))
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/octocrab/Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .status()
        .await?;
    if !built.success() {
        return Err("it does not build".into());
    }
    Ok(release.join("suite-bench-octocrab"))
}
