//! Pages of typed items with further members, and the headers of replies.

use sdk_adopted::types::Activity;
use sdk_core::codegen::Call;
use sdk_core::testing::{self, ScriptedTransport};
use sdk_core::{Effect, ErrorKind, Items, Members, Page, Pages};
use serde::de::DeserializeOwned;

use super::notes::{DELETE, LIST, client};
use crate::support::{assert_failed, assert_says};

#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    total: i64,
    facets: Option<Members>,
    extra: Members,
}

sdk_core::json_object!(Totals { total: required "total", facets: optional "facets" });

const FIRST: &str = r#"{"total":2,"items":[{"kind":"call","occurredAt":"2026-01-01T00:00:00Z"}],"facets":{"a":1.10},"nextCursor":"c2"}"#;
const LAST: &str = r#"{"items":[{"kind":"fax","n":1.10}],"nextCursor":null,"took":7}"#;

fn pages<T: DeserializeOwned + Send + 'static>(transport: &ScriptedTransport) -> Pages<T> {
    let call = Call::new(&client(transport), &LIST);
    let endpoint = call.endpoint().clone();
    Pages::new(call, None, move |cursor| {
        Ok(endpoint.get("/notes").query("cursor", cursor))
    })
}

#[tokio::test]
async fn items_are_typed_and_further_members_too() {
    let script = || ScriptedTransport::new().json(200, FIRST).json(200, LAST);
    let mut walk = pages::<Activity>(&script());
    let first = walk.try_next().await.unwrap().unwrap();
    assert!(matches!(first.items().unwrap(), [Activity::Call(_)]));
    let totals: Totals = first.members().unwrap();
    assert_eq!((totals.total, totals.extra.len()), (2, 0));
    assert_eq!(totals.facets.unwrap().get("a").unwrap().as_str(), "1.10");
    let last = walk.try_next().await.unwrap().unwrap();
    let error = last.members::<Totals>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_says(
        &error,
        &["at `total`: required member is missing; the object has took"],
    );
    assert!(walk.try_next().await.unwrap().is_none());

    let mut items: Items<Activity> = pages(&script()).items();
    let mut tags = Vec::new();
    while let Some(activity) = items.try_next().await.unwrap() {
        tags.push(activity.tag().unwrap());
    }
    assert_eq!(tags, ["call", "fax"]);
    let page: Page<Activity> = serde_json::from_str(LAST).unwrap();
    assert_eq!(serde_json::to_string(&page).unwrap(), LAST);
}

#[tokio::test]
async fn an_item_that_does_not_fit_is_an_error_with_its_path() {
    let odd = FIRST.replace("2026", "26");
    let transport = ScriptedTransport::new().json(200, odd);
    let error = pages::<Activity>(&transport).try_next().await.unwrap_err();
    assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
    assert_says(
        &error,
        &["at `items[0]`: expected a valid variant (an RFC 3339 date-time)"],
    );
}

#[test]
fn a_header_is_there_by_its_name() {
    let reply = || {
        testing::reply(&DELETE, 200)
            .header("etag", "\"7\"")
            .header("x-left", "\u{e9}")
            .json("")
    };
    let (response, receipt) = (
        reply().response::<String>().unwrap(),
        reply().receipt::<()>().unwrap(),
    );
    for (name, value) in [
        ("ETag", Some("\"7\"")),
        ("x-left", None),
        ("x-none", None),
        ("no name", None),
    ] {
        assert_eq!(
            (response.header(name), receipt.header(name)),
            (value, value),
            "{name}"
        );
    }
}
