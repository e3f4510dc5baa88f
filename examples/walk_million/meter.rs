//! Time and memory of this process, as far as the system tells.

use std::time::{Duration, Instant};

/// What the clocks say, that of the wall and that of this process.
#[derive(Clone, Copy)]
pub(crate) struct Meter {
    pub(crate) at: Instant,
    processor: Option<Duration>,
}

impl Meter {
    pub(crate) fn now() -> Self {
        let text = std::fs::read_to_string("/proc/self/schedstat").ok();
        let nanos = text.and_then(|text| text.split(' ').next()?.parse().ok());
        Self {
            at: Instant::now(),
            processor: nanos.map(Duration::from_nanos),
        }
    }

    /// The time since an earlier moment, per thousand of so many items.
    pub(crate) fn since(self, earlier: Self, items: u32) -> String {
        let per_thousand = |time: Duration| 1e6 * time.as_secs_f64() / f64::from(items);
        let wall = per_thousand(self.at - earlier.at);
        match (self.processor, earlier.processor) {
            (Some(now), Some(then)) => {
                let client = per_thousand(now.saturating_sub(then));
                format!("{wall:.2} ms, {client:.2} ms of processor in this process")
            }
            _ => format!("{wall:.2} ms"),
        }
    }
}

/// The most memory that this process ever had, in KiB.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
