//! A line on standard output for each request.

use std::io::Write;
use std::time::Instant;

use serde_json::json;

use crate::auth;
use crate::served::Served;
use crate::suite::Visit;

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
        let operation = visit.operation.map(Served::id);
        let client = auth::named_client(visit.suite, request);
        let millis = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let line = match self {
            RequestLog::Json => json!({
                "time": visit.now.to_string(),
                "number": number,
                "app": visit.app.id(),
                "operation": operation,
                "method": request.method.as_str(),
                "path": request.path,
                "status": status,
                "client": client,
                "milliseconds": millis,
                "faults": faults,
            })
            .to_string(),
            RequestLog::Text => {
                let faults: Vec<_> = faults
                    .iter()
                    .map(|fault| format!(" fault={fault}"))
                    .collect();
                format!(
                    "{} {number} {} {} {} {} {} {} {millis} ms{}",
                    visit.now,
                    visit.app,
                    operation.unwrap_or("-").escape_debug(),
                    request.method,
                    request.path,
                    status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
                    client.as_deref().unwrap_or("-").escape_debug(),
                    faults.concat(),
                )
            }
        };
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}
