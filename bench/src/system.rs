//! Figures of the operating system about this process.

use std::fs::{read_dir, read_to_string};
use std::hint::black_box;

/// Makes callgrind begin a new count.
#[inline(never)]
pub fn mark() {
    black_box(0_u8);
}

/// Returns the number after a name at the beginning of a line.
pub fn number(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns a value of `/proc/self/status`, in KiB.
pub fn status(name: &str) -> f64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    number(&status, name).unwrap_or_default()
}

/// Returns the processor time of the first thread of this process, in microseconds.
pub fn processor() -> f64 {
    let schedule = read_to_string("/proc/self/schedstat").unwrap_or_default();
    number(&schedule, "").unwrap_or_default() / 1e3
}

/// Returns the number of open files and connections of this process.
pub fn open_files() -> usize {
    read_dir("/proc/self/fd").map_or(0, Iterator::count)
}
