//! Lists as streams: where they end, where they resume, which faults they survive. `fault_NN_…` tests row NN of
//! `faults/FAULTS.md`.

mod checkpoints;
mod ends;
mod resuming;
mod streams;
mod types;

use sdk_core::{Error, Items, Pages, Record};
use sdk_reference_server::ReferenceServer;
use serde_json::{Value, json};

use crate::peer::{self, Peer, Script, Step};
use crate::support::{Ahead as _, Clients as _, builder_for, crm_at};

const PEOPLE: &str = "/api/crm/v1/people";

fn crm_of(people: u64) -> (ReferenceServer, sdk_crm::Client) {
    let server = ReferenceServer::builder().people(people).in_memory();
    let crm = client_of(&server);
    (server, crm)
}

fn client_of(server: &ReferenceServer) -> sdk_crm::Client {
    builder_for(server).transport(server.service()).crm()
}

pub(crate) fn page(names: &[&str], next: impl Into<Value>) -> Step {
    let person = |name: &&str| json!({"publicReference": name});
    let items: Vec<_> = names.iter().map(person).collect();
    peer::json(200, &json!({"items": items, "nextCursor": next.into()}))
}

fn name(record: &Record) -> String {
    record.text("publicReference").unwrap()
}

/// Returns the names of all items up to the end or an error.
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

pub(crate) async fn rest_of_pages(pages: &mut Pages<Record>) -> (Vec<String>, Option<Error>) {
    let mut names = Vec::new();
    loop {
        match pages.try_next().await {
            Ok(Some(page)) => names.extend(page.items().unwrap().iter().map(name)),
            Ok(None) => return (names, None),
            Err(error) => return (names, Some(error)),
        }
    }
}

/// Reads a scripted list of people. Returns the names up to the end or an error, the stream after them, and the target
/// of each request.
async fn read_list(
    script: impl Into<Script>,
    ahead: bool,
) -> (Vec<String>, Option<Error>, Items<Record>, Vec<String>) {
    let peer = Peer::start(script);
    let mut items = crm_at(&peer).people().list().items().ahead(ahead);
    let (names, error) = rest(&mut items).await;
    let seen = peer.requests().into_iter();
    (names, error, items, seen.map(|seen| seen.target).collect())
}
