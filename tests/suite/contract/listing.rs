//! What tests about lists have in common.

use std::collections::BTreeSet;
use std::pin::Pin;

use sdk_core::{Error, Items, Page, RawJson, Record, Response};

/// A call of a list, whichever it is.
pub(super) type Listing =
    Pin<Box<dyn Future<Output = Result<Response<Page<Record>>, Error>> + Send>>;

/// The items of a list whose shape the contract does not show.
pub(super) fn items(list: &RawJson) -> Vec<serde_json::Value> {
    list.to_value().unwrap()["items"]
        .as_array()
        .unwrap()
        .clone()
}

/// The references of some records.
pub(super) fn references<'r>(records: impl IntoIterator<Item = &'r Record>) -> BTreeSet<String> {
    let reference = |record: &Record| record.text("publicReference").unwrap();
    records.into_iter().map(reference).collect()
}

/// All items of a walk.
pub(super) async fn collect(mut items: Items<Record>) -> Vec<Record> {
    let mut all = Vec::new();
    while let Some(item) = items.try_next().await.unwrap() {
        all.push(item);
    }
    all
}
