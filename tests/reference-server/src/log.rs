//! A line on standard output for each request.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::auth;
use crate::suite::Visit;

/// The words of a line of text.
const IN_ORDER: &str = "time number app operation method path status client milliseconds faults";

/// How many lines wait for a reader that is slow. One that has gone away must not hold up the server.
const MOST_LINES: usize = 10_000;

/// Where the lines of all servers of the process go: standard output is one.
static LINES: OnceLock<SyncSender<String>> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);
/// The lines that wait, and the one that is being printed.
static WAITING: AtomicU64 = AtomicU64::new(0);

/// How long a server that stops waits for the last lines to be printed.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Waits for the lines that are not yet printed, unless nobody reads them.
pub(crate) fn finish() {
    let begun = Instant::now();
    while WAITING.load(Ordering::Acquire) > 0 && begun.elapsed() < LAST_LINES {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// How a server writes a line about each request on standard output: its time by the server's clock, number, application,
/// operation, method, path, status, client, milliseconds without scripted delays, and the numbers of the faults that struck.
/// Never a query, a header, a body or a secret. Serving never waits for whoever reads them: beyond 10,000 lines that wait,
/// lines are lost, and standard error says how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestLog {
    /// Words for people, `-` for what there is not.
    Text,
    /// An object for programs.
    Json,
}

impl RequestLog {
    /// Writes a line; nobody may be reading.
    pub(crate) fn write(
        self,
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
        let line = match self {
            RequestLog::Json => line.to_string(),
            RequestLog::Text => IN_ORDER.split(' ').map(word).collect::<Vec<_>>().join(" "),
        };
        let lines = LINES.get_or_init(|| {
            let (lines, waiting) = sync_channel(MOST_LINES);
            let _ = std::thread::Builder::new()
                .name("request-log".to_owned())
                .spawn(move || print(&waiting));
            lines
        });
        WAITING.fetch_add(1, Ordering::AcqRel);
        if lines.try_send(line).is_err() {
            WAITING.fetch_sub(1, Ordering::AcqRel);
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Prints lines as they come; nobody may be reading.
fn print(waiting: &Receiver<String>) {
    for line in waiting {
        let _ = writeln!(std::io::stdout(), "{line}");
        WAITING.fetch_sub(1, Ordering::AcqRel);
        let lost = LOST.swap(0, Ordering::Relaxed);
        if lost > 0 {
            eprintln!(
                "reference server: {lost} lines of the request log are lost: nobody read them"
            );
        }
    }
}
