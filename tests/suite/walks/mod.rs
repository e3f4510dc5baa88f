//! Lists as streams: where they end, where they go on, what they survive. `fault_NN_…` is row NN of the list of faults;
//! the plainest test of most rows is in `faults`.

mod checkpoints;
mod ends;
mod export;
mod funnel;
mod local;
mod resuming;
mod shapes;
mod streams;
mod trouble;
mod types;

use sdk_core::{Error, Items, Pages, Record};
use sdk_reference_server::{ReferenceServer, Transport};
use serde_json::{Value, json};

use crate::peer::{self, Step};

/// The path of the list that most tests walk.
const PEOPLE: &str = "/api/crm/v1/people";

/// A server with so many people, which can break connections, and whose threads no paused clock stops.
pub(crate) async fn server_of(people: u64) -> ReferenceServer {
    let builder = ReferenceServer::builder().transport(Transport::Hyper);
    builder.people(people).start().await
}

/// A page of people with these references.
pub(crate) fn page(names: &[&str], next: impl Into<Value>) -> Step {
    let person = |name: &&str| json!({"publicReference": name});
    let items: Vec<_> = names.iter().map(person).collect();
    peer::json(200, &json!({"items": items, "nextCursor": next.into()}))
}

pub(crate) fn name(record: &Record) -> String {
    record.text("publicReference").unwrap()
}

/// The names of all items up to the end or an error.
pub(crate) async fn rest(items: &mut Items<Record>) -> (Vec<String>, Option<Error>) {
    let mut names = Vec::new();
    loop {
        match items.try_next().await {
            Ok(Some(item)) => names.push(name(&item)),
            Ok(None) => return (names, None),
            Err(error) => return (names, Some(error)),
        }
    }
}

/// The names on all pages up to the end or an error.
async fn rest_of_pages(pages: &mut Pages<Record>) -> (Vec<String>, Option<Error>) {
    let mut names = Vec::new();
    loop {
        match pages.try_next().await {
            Ok(Some(page)) => names.extend(page.items().unwrap().iter().map(name)),
            Ok(None) => return (names, None),
            Err(error) => return (names, Some(error)),
        }
    }
}
