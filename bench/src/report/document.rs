//! `BENCHMARKS.md`, and the origin of its figures.

use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Command;

use crate::clients::Failure;
use crate::process::{Bench, version};

/// Writes a report between the two marks of the document.
pub fn write(text: &str) -> Result<(), Failure> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../BENCHMARKS.md");
    let old = std::fs::read_to_string(path)?;
    let (begin, end) = ("<!-- run:begin -->\n", "<!-- run:end -->");
    let (head, rest) = old
        .split_once(begin)
        .ok_or("BENCHMARKS.md has no beginning")?;
    let (_, tail) = rest.split_once(end).ok_or("BENCHMARKS.md has no end")?;
    let text = text.trim_end();
    let new = format!("{head}{begin}{text}\n{end}{tail}");
    Ok(std::fs::write(path, new)?)
}

pub async fn circumstances(bench: &Bench, took: Duration) -> String {
    let no_valgrind = "no valgrind, so that instructions are not counted".to_owned();
    format!(
        "Measured on {} with {}, {} cores, {}, Linux {}; server and client {}. {}; {}.\nThe run took {} minutes.",
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
        value("/proc/cpuinfo", "model name"),
        bench.cores,
        value("/proc/meminfo", "MemTotal"),
        value("/proc/sys/kernel/osrelease", ""),
        if bench.cores > 1 {
            "have a core each"
        } else {
            "share it"
        },
        version("rustc").await.unwrap_or_default(),
        version("valgrind").await.unwrap_or(no_valgrind),
        took.as_secs() / 60,
    )
}

/// Returns the rest of the line that begins with a name.
fn value(path: &str, name: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let value = value
        .unwrap_or("unknown")
        .trim_start_matches([' ', '\t', ':']);
    value.to_owned()
}

/// Builds the program with octocrab next to this program.
pub async fn octocrab() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let release = program.parent().ok_or("a program is in a folder")?;
    let built = Command::new(env!("CARGO"))
        .args("build --release --quiet --locked --manifest-path".split(' '))
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/octocrab/Cargo.toml"))
        .arg("--target-dir")
        .arg(release.parent().ok_or("so is that folder")?)
        .status()
        .await?;
    match built.success() {
        true => Ok(release.join("suite-bench-octocrab")),
        false => Err("it does not build".into()),
    }
}
