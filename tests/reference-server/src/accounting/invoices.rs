//! The list of invoices, which contains this server's drafts.

use std::collections::VecDeque;

use serde::Serialize;

use super::ledger::Draft;
use crate::call::{Answer, Call};
use crate::message::Reply;

/// The page, which is serialized directly because `serde_json::Value` would round amounts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    items: &'a VecDeque<Draft>,
    next_cursor: Option<String>,
}

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    Ok(Reply::ok(&Page {
        items: store.ledger.latest(),
        next_cursor: None,
    }))
}
