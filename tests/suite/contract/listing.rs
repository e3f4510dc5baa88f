//! What tests about lists have in common.

use std::pin::Pin;

use sdk_core::{Error, Page, RawJson, Record, Response};

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
