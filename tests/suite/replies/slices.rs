//! What of a reply shares its memory, and what does not.

use std::fmt::Debug;

use sdk_core::{Page, Record, Response, Text, Timestamp};
use sdk_reference_server::{Operation, ReferenceServer};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::support::{answer, crm_for};

const ANN: &str = r#"{"displayName":"Ann \u00c4hren", "n": 1.10}"#;
const BOB: &str =
    r#"{"displayName":"Böb","at":"2026-01-15T09:00:00Z","n":2,"deep":[{"a":[null,true]}]}"#;

/// A page with so many bytes more.
fn page(more: usize) -> String {
    let more = "x".repeat(more);
    format!(r#"{{ "items" : [ {ANN} , {BOB} ], "m\u006fre" : "{more}", "nextCursor": null }}"#)
}

/// Whether a text lies within the body of its reply.
fn is_slice<T>(reply: &Response<T>, text: &str) -> bool {
    reply.bytes().as_ptr_range().contains(&text.as_ptr())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    display_name: Text,
    at: Option<Timestamp>,
}

async fn people(server: &ReferenceServer) -> Response<Page<Record>> {
    answer(server, Operation::ListPeople, page(5_000));
    crm_for(server).people().list().await.unwrap()
}

#[tokio::test]
async fn a_page_keeps_its_body_once() {
    let server = ReferenceServer::start().await;
    let page = people(&server).await;
    let records = page.items().unwrap();
    for (record, text) in records.iter().zip([ANN, BOB]) {
        assert_eq!(record.raw().as_str(), text);
        assert!(is_slice(&page, record.raw().as_str()));
        assert_eq!(serde_json::to_string(record).unwrap(), text);
        let copy = record.clone().detached();
        assert!(!is_slice(&page, copy.raw().as_str()));
        assert_eq!(copy, *record);
    }
    // Nothing else of a page is worth its memory.
    assert!(!is_slice(&page, page.extra.get("more").unwrap().as_str()));
    let ann = records[0].clone();
    drop(page);
    assert_eq!(ann.text("displayName").as_deref(), Some("Ann Ähren"));
}

#[tokio::test]
async fn a_text_is_a_slice_unless_it_has_escapes() {
    let server = ReferenceServer::start().await;
    answer(&server, Operation::ListPeople, page(5_000));
    let mut pages = crm_for(&server).people().list().pages().decode::<Person>();
    let page = pages.try_next().await.unwrap().unwrap();
    let [ann, bob] = page.items().unwrap() else {
        panic!("{page:?}");
    };
    assert_eq!(
        (&*ann.display_name, &*bob.display_name),
        ("Ann Ähren", "Böb")
    );
    assert!(!is_slice(&page, &ann.display_name));
    assert!(is_slice(&page, &bob.display_name));
    assert!(!is_slice(&page, &bob.display_name.detached()));
    let at = bob.at.as_ref().unwrap().as_str();
    assert!(is_slice(&page, at));
    assert!(!is_slice(&page, Timestamp::from(at).as_str()));
    assert_eq!(serde_json::to_string(&bob.display_name).unwrap(), "\"Böb\"");
    // What is no part of a reply is copied.
    let other: Person = serde_json::from_str(ANN).unwrap();
    assert_eq!(other.display_name, ann.display_name);
    let other: Person = BOB.parse::<Record>().unwrap().decode().unwrap();
    assert_eq!(other.display_name, "Böb");
}

#[tokio::test]
async fn what_is_small_is_copied() {
    let server = ReferenceServer::start().await;
    let crm = crm_for(&server);
    for (size, is_shared) in [(4 * 1024 - 1, false), (4 * 1024, true)] {
        let body = page(size - page(0).len());
        answer(&server, Operation::ListPeople, body);
        let page = crm.people().list().await.unwrap();
        assert_eq!(page.bytes().len(), size);
        let record = page.items().unwrap()[0].raw();
        assert_eq!(is_slice(&page, record.as_str()), is_shared, "{size}");
    }
}

#[tokio::test]
async fn a_name_that_is_no_text_hides_no_other() {
    let server = ReferenceServer::start().await;
    let odd = r#"{"items":[{"\ud800":1,"a":2}],"nextCursor":null}"#;
    answer(&server, Operation::ListPeople, odd);
    let page = crm_for(&server).people().list().await.unwrap();
    assert_eq!(page.items().unwrap()[0].get::<u8>("a").unwrap(), Some(2));
}

#[test]
fn an_amount_is_never_cut_off() {
    for amount in ["19.99", "0.5", "1e3", "1E400"] {
        let record: Record = format!("{{\"amount\":{amount}}}").parse().unwrap();
        record.get::<i128>("amount").unwrap_err();
        record.get::<u128>("amount").unwrap_err();
        record.get::<i64>("amount").unwrap_err();
    }
    let error = Record::from(serde_json::json!("s3cret"))
        .get::<u8>("a")
        .unwrap_err();
    assert!(!error.to_string().contains("s3cret"), "{error}");
}

#[derive(Debug, PartialEq, Deserialize)]
struct Score<F> {
    score: F,
}

/// Compares every way to decode a number with `serde_json`.
async fn decodes_like_serde_json<F>(server: &ReferenceServer, number: &str)
where
    F: DeserializeOwned + PartialEq + Debug + Send + 'static,
{
    let item = format!(r#"{{"score":{number}}}"#);
    let page = format!(r#"{{"items":[{item}],"nextCursor":null}}"#);
    let expected = serde_json::from_str::<Score<F>>(&item).ok();
    answer(server, Operation::ListPeople, page).times(1);
    let mut scores = crm_for(server).people().list().items().decode::<Score<F>>();
    let record: Record = item.parse().unwrap();

    assert_eq!(scores.try_next().await.ok().flatten(), expected, "{number}");
    assert_eq!(record.decode::<Score<F>>().ok(), expected, "{number}");
    let score = record.get::<F>("score").ok().flatten();
    assert_eq!(score, expected.map(|it| it.score), "{number}");
}

#[tokio::test]
async fn a_number_beyond_the_range_of_floats_is_an_error_and_never_infinite() {
    let server = ReferenceServer::start().await;
    let beyond = "1.0e999 -1.0e999 1e999 1.7976931348623159e308";
    let within = "1.7976931348623157e308 -1.7976931348623157e308 3.5e38 5.0e-324 -1.0e-999";
    for number in [beyond, within].join(" ").split(' ') {
        decodes_like_serde_json::<f64>(&server, number).await;
        decodes_like_serde_json::<Option<f64>>(&server, number).await;
        decodes_like_serde_json::<f32>(&server, number).await;
    }
}
