//! What each port serves besides its operations: a page at `/`, and the contract at `/openapi.yaml`.

mod control;
mod html;
mod status;
mod tables;

use http::{Method, header};

use crate::app::App;
use crate::contradict::Assumption;
use crate::generated::contracts::contract;
use crate::message::{Reply, Request};
use crate::routing;
use crate::suite::Suite;
pub(crate) use control::page as control;

/// The paths of the pages.
pub(crate) const PATHS: [&str; 2] = ["/", "/openapi.yaml"];

/// The page or file that a request to `app` asks for, if it asks for one.
pub(crate) fn answer(suite: &Suite, app: App, request: &Request) -> Option<Reply> {
    if request.method != Method::GET && request.method != Method::HEAD {
        return None;
    }
    match &*routing::plain(&request.path) {
        "/" => Some(status::page(suite, app)),
        "/openapi.yaml" => Some(openapi(suite, app, request)),
        _ => None,
    }
}

/// The description as it is published, without the line that says where the copy comes from, and with the address of this server.
fn openapi(suite: &Suite, app: App, request: &Request) -> Reply {
    let copy = contract(app).spec;
    let published = copy.split_once('\n').map_or(copy, |(_, spec)| spec);
    // Those of the others too: the token endpoint is the Platform's.
    let published = App::all().fold(published.to_owned(), |published, other| {
        let nowhere = format!("https://{}.invalid", other.short());
        published.replace(&nowhere, suite.url(other))
    });
    let brought = suite.brought(app);
    let spec = match brought {
        Some(contract) => contract.text.to_string(),
        None if suite.contradicts(Assumption::A01) => {
            published.replace("operationId: ", "operationId: other_")
        }
        None => published,
    };
    // A browser would download YAML; as plain text it is displayed.
    let by_a_person = request
        .header(header::ACCEPT.as_str())
        .is_some_and(|accept| accept.contains("text/html"));
    let media_type = if by_a_person {
        "text/plain; charset=utf-8"
    } else {
        "application/yaml"
    };
    Reply::text(200, media_type, spec)
}
