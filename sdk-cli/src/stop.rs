//! Ctrl-C and SIGTERM: the first asks the program to end at its next safe point, another Ctrl-C ends it at once, and so
//! does time.

use std::io;
use std::process::{Command, ExitCode};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// Exit statuses as a shell reports them: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
const TERMINATED: u8 = 143;

/// A call ends within half a minute. A program that is at no safe point by then hangs.
const PATIENCE: Duration = Duration::from_secs(40);

/// Whether the program was asked to end.
pub(crate) struct Stop(watch::Receiver<Option<u8>>);

impl Stop {
    /// Hears from now on, on a thread of its own, so that the second Ctrl-C works whatever the program is busy with.
    pub(crate) fn listen() -> io::Result<Self> {
        let (asked, stop) = watch::channel(None);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build()?;
        // Not on the thread: a signal that came before it ran would kill the program.
        let within = runtime.enter();
        let mut signals = Signals::listen()?;
        drop(within);
        let hear = async move {
            let status = signals.next().await;
            asked.send_replace(Some(status));
            let again = async {
                // What ends a process often sends SIGTERM to it and to its group: the same word twice.
                while signals.next().await != INTERRUPTED {}
                INTERRUPTED
            };
            let status = timeout(PATIENCE, again).await.unwrap_or(status);
            std::process::exit(status.into());
        };
        std::thread::Builder::new().spawn(move || runtime.block_on(hear))?;
        Ok(Self(stop))
    }

    /// Returns when the program is asked to end.
    pub(crate) async fn heard(&mut self) {
        if self.0.wait_for(Option::is_some).await.is_err() {
            // It cannot be asked.
            std::future::pending::<()>().await;
        }
    }

    /// Whether it was asked already.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// The exit status of a program that has ended for that reason.
    pub(crate) fn status(&self) -> ExitCode {
        self.0.borrow().unwrap_or(INTERRUPTED).into()
    }
}

/// Keeps a child from hearing the Ctrl-C that is meant for this program, which ends it in its own time.
pub(crate) fn shield(child: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(child, 0);
    child
}

/// The signals that ask a program to end.
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

    /// Waits for a signal, and returns the exit status that belongs to it.
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
