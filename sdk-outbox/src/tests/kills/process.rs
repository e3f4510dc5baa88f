//! A worker process, which a test can kill, stop and continue.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tokio::sync::watch;
use tokio::time::timeout;

use super::LEASE;

/// How often each step was reached.
type Counts = BTreeMap<String, usize>;

/// A worker process. It is killed when this is dropped.
pub(super) struct Process {
    child: Child,
    stands: watch::Receiver<bool>,
    counts: Arc<Mutex<Counts>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    pub(super) fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (stand, stands) = watch::channel(false);
        let counts = Arc::<Mutex<Counts>>::default();
        let counted = Arc::clone(&counts);
        let reader = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let Some((_, step)) = line.split_once("step: ") else {
                    continue;
                };
                *counted.lock().unwrap().entry(step.to_owned()).or_default() += 1;
                if step == "stands" {
                    stand.send_replace(true);
                }
            }
        });
        let reader = Some(reader);
        Self {
            child,
            stands,
            counts,
            reader,
        }
    }

    /// Waits until it stands at its step, which it may never reach.
    pub(super) async fn stands(&mut self) -> bool {
        let stands = self.stands.wait_for(|stands| *stands);
        matches!(timeout(LEASE * 10, stands).await, Ok(Ok(_)))
    }

    pub(super) fn signal(&mut self, signal: &str) {
        let id = self.child.id().to_string();
        let kill = Command::new("kill").args([signal, &id]).status();
        assert!(kill.unwrap().success());
    }

    pub(super) fn go_on(&mut self) {
        self.signal("-CONT");
        writeln!(self.child.stdin.as_mut().unwrap()).unwrap();
    }

    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }

    /// Ends it, and returns what it did.
    pub(super) fn end(mut self) -> Counts {
        self.kill();
        std::mem::take(&mut *self.counts.lock().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
