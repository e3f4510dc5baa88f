//! The tables of the pages.

use std::fmt::Write as _;

use super::html::{Text, table};
use crate::generated::operations::Operation;
use crate::recorder::RecordedRequest;
use crate::schema::Served;
use crate::suite::Suite;

/// How many strikes of faults are shown.
const STRIKES: usize = 20;

/// Operations with their scopes and counts.
pub(super) fn operations(body: &mut String, suite: &Suite, operations: &[Served]) {
    let mut rows = String::new();
    for operation in operations {
        let counts = suite.counters.of(operation);
        let note = if operation.is_from_schema() {
            " Served from its schema."
        } else if operation.written.is_some_and(Operation::name_only) {
            " Known by name only."
        } else {
            ""
        };
        let commits = match &*operation.method {
            "GET" => "–".to_owned(),
            _ => counts.commits.to_string(),
        };
        let _ = writeln!(
            rows,
            "<tr><td class=\"verb\">{}</td><td><code>{}</code><br><span class=\"quiet\">{} – {}{note}</span></td><td>{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{commits}</td></tr>",
            method(&operation.method),
            Text(&operation.path),
            Text(&operation.id),
            Text(&operation.summary),
            scopes(operation),
            counts.attempts,
        );
    }
    let head = "<th colspan=\"2\">Operation</th><th>Scope</th><th class=\"number\">Attempts</th>\
         <th class=\"number\">Commits</th>";
    body.push_str(&table(head, &rows));
}

/// The active faults and their strikes for the wanted operations, if any.
pub(super) fn faults(body: &mut String, suite: &Suite, wanted: impl Fn(Option<&str>) -> bool) {
    let mut rows = String::new();
    for view in suite.faults.views() {
        let operation = view.script["operation"].as_str();
        if !wanted(operation) {
            continue;
        }
        let spent = if view.spent { ", spent" } else { "" };
        let _ = writeln!(
            rows,
            "<tr><td class=\"number\">{}</td><td>{}</td><td>{}</td><td><code>{}</code></td>\
             <td class=\"number\">{}{spent}</td></tr>",
            view.id,
            Text(operation.unwrap_or("every operation")),
            Text(&view.script["when"]),
            Text(&view.script["then"]),
            view.struck,
        );
    }
    if !rows.is_empty() {
        body.push_str("<h2 id=\"faults\">Faults</h2>\n");
        let head = "<th class=\"number\">No.</th><th>Operation</th><th>When</th><th>Effect</th><th class=\"number\">Struck</th>";
        body.push_str(&table(head, &rows));
    }
    rows.clear();
    let mut strikes = suite.faults.log();
    strikes.retain(|strike| wanted(Some(&strike.operation_id)));
    for strike in strikes.iter().rev().take(STRIKES) {
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td><td><code>{}</code></td><td><code>{}</code></td></tr>",
            time(&strike.at),
            strike.fault,
            Text(&strike.operation_id),
            Text(&strike.request_id),
            Text(&strike.effects),
        );
    }
    if !rows.is_empty() {
        body.push_str("<h2>Last strikes</h2>\n");
        let head = "<th>Time</th><th class=\"number\">Fault</th><th>Operation</th><th>Request</th><th>Effect</th>";
        body.push_str(&table(head, &rows));
    }
}

/// Requests in the order in which they are given.
pub(super) fn requests<'r>(body: &mut String, requests: impl Iterator<Item = &'r RecordedRequest>) {
    let mut rows = String::new();
    for request in requests {
        let query = request
            .query
            .as_deref()
            .map(|query| format!("?{query}"))
            .unwrap_or_default();
        let (class, status) = match request.status {
            Some(status) => (status / 100, status.to_string()),
            None => (0, "closed".to_owned()),
        };
        let _ = writeln!(
            rows,
            "<tr><td class=\"number\">{}</td><td>{}</td><td>{} <code>{}</code></td><td>{}</td>\
             <td><b class=\"status s{class}\">{status}</b></td></tr>",
            request.number,
            time(&request.at),
            method(&request.method),
            Text(format!("{}{query}", request.path)),
            Text(request.operation_id().unwrap_or("–")),
        );
    }
    if rows.is_empty() {
        body.push_str("<p class=\"quiet\">None yet.</p>\n");
        return;
    }
    let head = "<th class=\"number\">No.</th><th>Time</th><th>Request</th><th>Operation</th><th>Status</th>";
    body.push_str(&table(head, &rows));
}

pub(super) fn method(name: &str) -> String {
    let class = if name == "GET" { "read" } else { "write" };
    format!("<b class=\"method {class}\">{}</b>", Text(name))
}

/// The time of day, which is enough for what happened lately.
fn time(at: &jiff::Timestamp) -> String {
    at.strftime("%H:%M:%S%.3f").to_string()
}

fn scopes(operation: &Served) -> String {
    let scopes: Vec<String> = operation
        .security
        .iter()
        .filter(|all| !all.is_empty())
        .map(|all| format!("<code>{}</code>", Text(all.join(" "))))
        .collect();
    let quiet = |words: &str| format!("<span class=\"quiet\">{words}</span>");
    match (!operation.security.is_empty(), scopes.len()) {
        (false, _) if operation.is_exchange() => quiet("the client’s credentials"),
        (false, _) => quiet("open to everyone"),
        (true, 0) => quiet("any token; its scope is not shown"),
        (true, 1) => scopes.concat(),
        (true, _) => format!("{}<br>{}", quiet("any of"), scopes.join("<br>")),
    }
}
