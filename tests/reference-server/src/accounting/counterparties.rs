//! Financial counterparties. The list has no parameters, and the contract doesn't document its body.

use serde_json::{Value, json};

use super::result;
use crate::call::{Answer, Call};
use crate::data::counterparties::Counterparty;
use crate::message::Reply;

/// The list returns only the most recent counterparties, because it has no parameter for another page.
const SHOWN: u64 = 100;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    let start = store.counterparties.length().saturating_sub(SHOWN);
    let items: Vec<Value> = store
        .counterparties
        .rows(start)
        .map(|(index, row)| {
            json!({
                "publicReference": store.counterparties.reference(index),
                "displayName": row.display_name,
                "status": row.status,
                "currency": row.currency,
                "recordVersion": row.version,
            })
        })
        .collect();
    Ok(Reply::ok(&json!({"items": items, "nextCursor": null})))
}

/// Creates a counterparty from any JSON. The body's `displayName` or `name` becomes its name.
pub(crate) fn create(call: &Call<'_>) -> Answer {
    let text = |name: &str| call.body()[name].as_str().map(str::to_owned);
    let mut store = call.suite.store_mut();
    let index = store.counterparties.create(Counterparty {
        display_name: text("displayName")
            .or_else(|| text("name"))
            .unwrap_or_else(|| "Unnamed".to_owned()),
        status: "active".into(),
        currency: text("currency").unwrap_or_else(|| "EUR".to_owned()).into(),
        version: 1,
    });
    let subject = store.counterparties.reference(index);
    let result = result(
        call,
        &mut store,
        "counterparty.create",
        "succeeded",
        &subject,
    );
    call.committed();
    Ok(Reply::json(201, &result))
}
