//! How far it is: a line that moves on a terminal, plain lines elsewhere.

use std::fmt::Write;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::out::note;

/// How often a plain line is written: a log is read later, and by people.
const PAUSE: Duration = Duration::from_secs(5);

pub(crate) struct Progress {
    list: &'static str,
    began: Instant,
    records: u64,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl Progress {
    pub(crate) fn new(list: &'static str, records: u64) -> Self {
        // No list says how long it is, so this bar has no end.
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner().with_position(records);
            if let Ok(style) = ProgressStyle::with_template(
                "{spinner} {msg}  {human_pos} records  {rate}  {elapsed}",
            ) {
                let rate = |state: &ProgressState, text: &mut dyn Write| {
                    let _ = write!(text, "{:.0} per second", state.per_sec());
                };
                bar.set_style(style.with_key("rate", rate));
            }
            bar.set_message(list);
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Self {
            list,
            began: Instant::now(),
            records,
            bar,
            last_line: Instant::now(),
        }
    }

    pub(crate) fn at(&mut self, records: u64) {
        self.records = records;
        match &self.bar {
            Some(bar) => bar.set_position(records),
            None if self.last_line.elapsed() >= PAUSE => {
                self.last_line = Instant::now();
                note!("{}: {} records so far", self.list, HumanCount(records));
            }
            None => {}
        }
    }

    pub(crate) fn stopped(&self, what_next: &str) {
        self.clear();
        let records = HumanCount(self.records);
        note!(
            "{}: stopped after {records} records; {what_next}",
            self.list
        );
    }

    pub(crate) fn complete(&self, file: &Path, bytes: u64) {
        self.clear();
        note!(
            "{}: {} records, {}, in {}",
            file.display(),
            HumanCount(self.records),
            HumanBytes(bytes),
            HumanDuration(self.began.elapsed()),
        );
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
