//! The page of the control port: its operations, and an overview of the server.

use std::fmt::Write as _;

use super::html::{self, Text};
use super::{status, tables};
use crate::control::ROUTES;
use crate::message::Reply;
use crate::suite::Suite;

/// How many of the last requests are shown.
const REQUESTS: usize = 50;

pub(crate) fn page(suite: &Suite) -> Reply {
    let mut body = status::navigation(suite, None);
    body.push_str(
        "<main>\n<h1>Control</h1>\n<p class=\"lead\">Faults, time, tokens and counts of this reference server, as JSON. \
         A request with a body says <code>Content-Type: application/json</code>.</p>\n",
    );
    let mut rows = String::new();
    for route in ROUTES {
        let example = match route.example {
            "" => String::new(),
            example => format!("<pre>{}</pre>", Text(example)),
        };
        let _ = writeln!(
            rows,
            "<tr><td>{} <code>{}</code></td><td>{}{example}</td></tr>",
            tables::method(route.method),
            Text(route.path),
            Text(route.summary),
        );
    }
    body.push_str(&html::table("<th>Request</th><th>What it does</th>", &rows));
    tables::faults(&mut body, suite, |_| true);
    body.push_str("<h2>Last requests</h2>\n");
    let requests = suite.recorder.requests();
    tables::requests(&mut body, requests.iter().rev().take(REQUESTS));
    body.push_str("</main>\n");
    html::page("Control – reference server", &body)
}
