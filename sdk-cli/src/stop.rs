//! Handles Ctrl-C and SIGTERM. The first signal asks the program to end at its next safe point. After a second Ctrl-C,
//! or after 40 seconds, the program ends immediately.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// Exit statuses as shells report them: 128 plus the number of the signal.
const INTERRUPTED: u8 = 130;
const TERMINATED: u8 = 143;

/// The time limit for the next safe point. By default, a call ends within 30 seconds.
const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct Stop(watch::Receiver<Option<u8>>);

impl Stop {
    /// Starts to listen. The task and `main` run on different threads, so a second Ctrl-C works while `main` is busy.
    pub(crate) fn listen() -> io::Result<Self> {
        let (asked, stop) = watch::channel(None);
        // The handlers are installed before the task starts, because a signal without a handler kills the program.
        let mut signals = Signals::listen()?;
        tokio::spawn(async move {
            let status = signals.next().await;
            asked.send_replace(Some(status));
            let again = async {
                // Supervisors often send SIGTERM to a process and to its group, so a second SIGTERM has no effect.
                while signals.next().await != INTERRUPTED {}
                INTERRUPTED
            };
            let status = timeout(PATIENCE, again).await.unwrap_or(status);
            std::process::exit(status.into());
        });
        Ok(Self(stop))
    }

    /// Returns when the program is asked to end.
    pub(crate) async fn heard(&mut self) {
        // This can't fail, because the task never drops the sender.
        let _ = self.0.wait_for(Option::is_some).await;
    }

    /// `None` if the program is asked to end first.
    pub(crate) async fn or<T>(&mut self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.heard() => None,
            done = call => Some(done),
        }
    }

    pub(crate) fn status(&self) -> ExitCode {
        self.0.borrow().unwrap_or(INTERRUPTED).into()
    }

    /// Ends the program immediately with the status of the signal.
    #[cfg(feature = "mcp")]
    pub(crate) fn exit(&self) -> ! {
        std::process::exit(self.0.borrow().unwrap_or(INTERRUPTED).into())
    }
}

struct Signals {
    #[cfg(unix)]
    interrupted: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminated: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupted: tokio::signal::windows::CtrlC,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            #[cfg(unix)]
            interrupted: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminated: signal(SignalKind::terminate())?,
            #[cfg(windows)]
            interrupted: tokio::signal::windows::ctrl_c()?,
        })
    }

    async fn next(&mut self) -> u8 {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupted.recv() => INTERRUPTED,
            _ = self.terminated.recv() => TERMINATED,
        }
        #[cfg(windows)]
        {
            self.interrupted.recv().await;
            INTERRUPTED
        }
    }
}
