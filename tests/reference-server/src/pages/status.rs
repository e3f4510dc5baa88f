//! The page of one application.

use std::fmt::Write as _;

use super::html::{self, Text};
use super::tables;
use crate::app::App;
use crate::generated::contracts::contract;
use crate::message::Reply;
use crate::suite::Suite;

/// Marks the current page.
const CURRENT: &str = " aria-current=\"page\"";

/// How many of the last requests are shown.
const REQUESTS: usize = 50;

pub(super) fn page(suite: &Suite, app: App) -> Reply {
    let brought = suite.brought(app);
    let version = brought.map_or(contract(app).version, |contract| &contract.version);
    let mut body = navigation(suite, Some(app));
    let _ = write!(
        body,
        "<main>\n<h1>{} <small>contract {}</small></h1>\n\
         <p class=\"lead\">A reference server: it behaves as the contract documents, with demo data. \
         <a href=\"{}/openapi.yaml\">OpenAPI description</a>, <a href=\"#requests\">last requests</a></p>\n",
        Text(title(suite, app)),
        Text(version),
        Text(suite.url(app)),
    );
    facts(&mut body, suite, app);
    let notes = brought.map_or(&[][..], |contract| &contract.notes);
    if !notes.is_empty() {
        body.push_str("<h2>Notes on the contract</h2>\n<ul>\n");
        for note in notes {
            let _ = writeln!(body, "<li>{}</li>", Text(note));
        }
        body.push_str("</ul>\n");
    }
    body.push_str("<h2>Operations</h2>\n");
    let operations = suite.operations(app);
    tables::operations(&mut body, suite, operations);
    tables::faults(&mut body, suite, |operation| {
        operation.is_none_or(|id| operations.iter().any(|known| &*known.id == id))
    });
    body.push_str("<h2 id=\"requests\">Last requests</h2>\n");
    let mut requests = suite.recorder.requests();
    requests.retain(|request| request.app == app);
    tables::requests(&mut body, requests.iter().rev().take(REQUESTS));
    body.push_str("</main>\n");
    html::page(&format!("{} – reference server", title(suite, app)), &body)
}

/// The name of an application, for people.
fn title(suite: &Suite, app: App) -> &str {
    let brought = suite.brought(app);
    brought.map_or(contract(app).title, |contract| &contract.title)
}

/// Links to the pages of all applications.
pub(super) fn navigation(suite: &Suite, here: Option<App>) -> String {
    let mut body = String::from("<nav aria-label=\"Applications\">\n");
    let in_order: [App; App::ALL.len()] = [App::Platform, App::Crm, App::Calendar, App::Accounting];
    for app in in_order {
        let current = if here == Some(app) { CURRENT } else { "" };
        let _ = writeln!(
            body,
            "<a href=\"{}/\"{current}>{}</a>",
            Text(suite.url(app)),
            Text(title(suite, app))
        );
    }
    if let Some(control) = &suite.control {
        let current = if here.is_none() { CURRENT } else { "" };
        let _ = writeln!(body, "<a href=\"{}/\"{current}>Control</a>", Text(control));
    }
    body.push_str("</nav>\n");
    body
}

fn facts(body: &mut String, suite: &Suite, app: App) {
    let lifetime = suite.registry().lifetime().as_secs_f64();
    let facts = [
        ("URL", suite.url(app).to_owned()),
        ("Audience of its tokens", suite.audience(app).to_owned()),
        ("Tokens from", suite.token_url()),
        ("Token lifetime", format!("{lifetime} s")),
        ("Tokens issued", suite.counters.exchanges().to_string()),
        ("Server time", suite.clock.now().to_string()),
    ];
    body.push_str("<dl>\n");
    for (name, value) in facts {
        let _ = writeln!(body, "<div><dt>{name}</dt><dd>{}</dd></div>", Text(value));
    }
    body.push_str("</dl>\n");
}
