//! A line on standard output for each request.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use crate::auth;
use crate::served::Served;
use crate::suite::Visit;

/// The words of a line of text.
const IN_ORDER: &str = "time number app operation method path status client milliseconds faults";

/// How a server writes a line about each request on standard output: its time by the server's clock, number, application,
/// operation, method, path, status, client, milliseconds without scripted delays, and the numbers of the faults that struck.
/// Never a query, a header, a body or a secret.
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
            "operation": visit.operation.map(Served::id),
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
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}
