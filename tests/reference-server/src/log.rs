//! The request log: one line on standard output for each request.

use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::auth;
use crate::visit::Visit;

/// The fields of a line in text form, in order.
const IN_ORDER: &str = "time number app operation method path status client milliseconds faults";

/// The limit of lines that wait for a slow reader. Without it, a reader that has stopped would block the server.
const MOST_LINES: usize = 10_000;

/// How long a stopping server waits until the last lines are printed.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The format in which a server logs each request to standard output. A line has the time by the server's clock, the
/// request's number, application, operation, method, path, status, client, milliseconds without scripted delays, and
/// the numbers of the faults that struck. The line never has a query, a header, a body or a secret.
///
/// Serving never waits for a reader. If 10,000 lines are waiting, the server omits further lines, which leaves gaps in
/// the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestLog {
    /// Words separated by spaces, with `-` for a missing value.
    Text,
    /// A JSON object per line.
    Json,
}

/// The log of one server, printed by its own thread.
#[derive(Debug)]
pub(crate) struct Log {
    form: RequestLog,
    /// The channel to the printing thread, and one that closes when the thread ends. `None` once the server has
    /// stopped.
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

    /// Ends the log when all lines are printed, or after a second without a reader.
    pub(crate) fn finish(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((lines, printing)) = thread.take() {
            drop(lines);
            let _ = printing.recv_timeout(LAST_LINES);
        }
    }

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
