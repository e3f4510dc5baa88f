//! A line on standard output for each request.

use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::auth;
use crate::visit::Visit;

/// The words of a line of text.
const IN_ORDER: &str = "time number app operation method path status client milliseconds faults";

/// How many lines wait for a reader that is slow. One that has gone away must not hold up the server.
const MOST_LINES: usize = 10_000;

/// How long a server that stops waits for the last lines to be printed.
const LAST_LINES: Duration = Duration::from_secs(1);

/// How a server writes a line about each request on standard output: its time by the server's clock, number, application,
/// operation, method, path, status, client, milliseconds without scripted delays, and the numbers of the faults that struck.
/// Never a query, a header, a body or a secret. Serving never waits for a reader: if 10,000 lines wait, further ones
/// are left out, which the numbers show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestLog {
    /// Words for people, `-` for what there is not.
    Text,
    /// An object for programs.
    Json,
}

/// The log of one server, printed by a thread of its own.
#[derive(Debug)]
pub(crate) struct Log {
    form: RequestLog,
    /// Takes lines, and ends with the thread; nothing once the server has stopped.
    thread: Mutex<Option<(mpsc::SyncSender<String>, mpsc::Receiver<Infallible>)>>,
}

impl Log {
    pub(crate) fn start(form: RequestLog) -> io::Result<Log> {
        let (lines, waiting) = mpsc::sync_channel::<String>(MOST_LINES);
        let (alive, printing) = mpsc::channel::<Infallible>();
        thread::Builder::new()
            .name("request-log".to_owned())
            .spawn(move || {
                for line in waiting {
                    let _ = writeln!(io::stdout(), "{line}");
                }
                drop(alive);
            })?;
        Ok(Log {
            form,
            thread: Mutex::new(Some((lines, printing))),
        })
    }

    /// Ends the log once all lines are printed, unless nobody reads them.
    pub(crate) fn finish(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((lines, printing)) = thread.take() {
            drop(lines);
            let _ = printing.recv_timeout(LAST_LINES);
        }
    }

    /// Writes the line of a request.
    pub(crate) fn write(
        &self,
        number: u64,
        visit: &Visit<'_>,
        status: Option<u16>,
        begun: Instant,
        faults: &[u64],
    ) {
        let request = visit.request;
        let millis = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let line = json!({
            "time": visit.now.to_string(),
            "number": number,
            "app": visit.app.id(),
            "operation": visit.operation.map(|it| &*it.id),
            "method": request.method.as_str(),
            "path": request.path,
            "status": status,
            "client": auth::named_client(visit.suite, request),
            "milliseconds": millis,
            "faults": faults,
        });
        let word = |name: &str| match &line[name] {
            Value::Null => "-".to_owned(),
            Value::String(text) => text.escape_debug().to_string(),
            other => other.to_string(),
        };
        let line = match self.form {
            RequestLog::Json => line.to_string(),
            RequestLog::Text => IN_ORDER.split(' ').map(word).collect::<Vec<_>>().join(" "),
        };
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((lines, _)) = &*thread {
            let _ = lines.try_send(line);
        }
    }
}
