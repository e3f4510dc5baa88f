//! Where the service can be killed. A real one has none of this.

use std::cell::Cell;
use std::io::{Read, Write, stdin, stdout};

/// Counts the steps that the service takes, and stands still at one of them.
pub(crate) struct Steps {
    stop_at: Option<u32>,
    taken: Cell<u32>,
}

impl Steps {
    /// Takes all steps, or stands still at one of them, counted from 1.
    pub(crate) fn until(stop_at: Option<u32>) -> Self {
        Self {
            stop_at,
            taken: Cell::new(0),
        }
    }

    /// Takes a step, or says its name and waits to be killed.
    pub(crate) fn take(&self, name: &str) {
        self.taken.set(self.taken.get() + 1);
        if self.stop_at == Some(self.taken.get()) {
            let mut out = stdout();
            let said = writeln!(out, "{name}").and_then(|()| out.flush());
            // Whoever was to kill it holds the other end. If that is gone, so is the reason to wait.
            let _ = said.and_then(|()| stdin().read(&mut [0]));
            std::process::exit(1);
        }
    }
}
