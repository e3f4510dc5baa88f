//! The parts of a response that share its memory, and numbers that decoding must not change.

use std::collections::BTreeMap;

use sdk_core::{Page, Record, Response, Text, Timestamp};
use serde::Deserialize;

use crate::peer::{Peer, reply};
use crate::support::crm_at;

const ANN: &str = r#"{"displayName":"Ann \u00c4hren", "n": 1.10}"#;
const BOB: &str =
    r#"{"displayName":"Böb","at":"2026-01-15T09:00:00Z","n":2,"deep":[{"a":[null,true]}]}"#;

/// The minimum size for a response to share its memory.
const SHARED: usize = 4 * 1024;

fn page(size: usize) -> String {
    let page = |more: &str| {
        format!(r#"{{ "items" : [ {ANN} , {BOB} ], "m\u006fre" : "{more}", "nextCursor": null }}"#)
    };
    page(&"x".repeat(size - page("").len()))
}

/// Returns whether a string is a slice of the response body.
fn is_slice<T>(response: &Response<T>, text: &str) -> bool {
    response.bytes().as_ptr_range().contains(&text.as_ptr())
}

async fn people(body: impl Into<Vec<u8>>) -> Response<Page<Record>> {
    let peer = Peer::start([reply(200).body(body)]);
    crm_at(&peer).people().list().await.unwrap()
}

#[tokio::test]
async fn records_of_a_large_page_share_its_body() {
    for (size, is_shared) in [(SHARED - 1, false), (SHARED, true)] {
        let page = people(page(size)).await;
        let records = page.items().unwrap();
        for (record, text) in records.iter().zip([ANN, BOB]) {
            assert_eq!(record.raw().as_str(), text);
            assert_eq!(is_slice(&page, record.raw().as_str()), is_shared, "{size}");
            let copy = record.clone().detached();
            assert!(!is_slice(&page, copy.raw().as_str()));
            assert_eq!(copy, *record);
        }
        // No other part of a page shares its memory.
        assert!(!is_slice(&page, page.extra.get("more").unwrap().as_str()));
        let ann = records[0].clone();
        drop(page);
        assert_eq!(ann.text("displayName").as_deref(), Some("Ann Ähren"));
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    display_name: Text,
    at: Option<Timestamp>,
}

#[tokio::test]
async fn a_string_is_a_slice_unless_it_has_escapes() {
    let peer = Peer::start([reply(200).body(page(SHARED))]);
    let mut pages = crm_at(&peer).people().list().pages().decode::<Person>();
    let page = pages.try_next().await.unwrap().unwrap();
    let people = page.items().unwrap();
    let [ann, bob] = [&people[0].display_name, &people[1].display_name];
    assert_eq!((&**ann, &**bob), ("Ann Ähren", "Böb"));
    assert!(!is_slice(&page, ann) && is_slice(&page, bob));
    assert!(!is_slice(&page, &bob.detached()));
    let at = people[1].at.as_ref().unwrap().as_str();
    assert!(is_slice(&page, at) && !is_slice(&page, Timestamp::from(at).as_str()));
    // A string that is not decoded from a response is copied.
    let other: Person = serde_json::from_str(ANN).unwrap();
    assert_eq!(other.display_name, *ann);
    let other: Person = BOB.parse::<Record>().unwrap().decode().unwrap();
    assert_eq!(other.display_name, *bob);
}

#[tokio::test]
async fn an_invalid_field_name_hides_no_other_field() {
    let page = people(r#"{"items":[{"\ud800":1,"a":2}],"nextCursor":null}"#).await;
    assert_eq!(page.items().unwrap()[0].get::<u8>("a").unwrap(), Some(2));
}

#[test]
fn a_number_beyond_the_float_range_is_an_error_not_infinity() {
    let numbers = "1.0e999 -1.0e999 1e999 1.7976931348623159e308 1.7976931348623157e308 3.5e38 5.0e-324 -1.0e-999";
    for number in numbers.split(' ') {
        let record: Record = format!(r#"{{"score":{number}}}"#).parse().unwrap();
        let field = record.get::<f64>("score").ok().flatten();
        let decoded = record.decode::<BTreeMap<String, f64>>().ok();
        let expected = serde_json::from_str::<f64>(number).ok();
        assert_eq!(
            [field, decoded.map(|it| it["score"])],
            [expected; 2],
            "{number}"
        );
        let single = record.get::<f32>("score").ok().flatten();
        assert_eq!(single, serde_json::from_str(number).ok(), "{number}");
    }
}
