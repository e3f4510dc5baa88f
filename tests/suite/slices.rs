//! What of a reply shares its memory, and what does not.

use sdk_core::{Page, Record, Response, Text};
use sdk_reference_server::{Operation, ReferenceServer};
use serde::Deserialize;

use crate::support::{answer, crm_for};

const ANN: &str = r#"{"displayName":"Ann \u00c4hren", "n": 1.10}"#;
const BOB: &str = r#"{"displayName":"Böb","n":2,"deep":[{"a":[null,true]}]}"#;

fn page() -> String {
    format!("{{ \"items\" : [ {ANN} , {BOB} ], \"total\" : 7, \"nextCursor\": null }}")
}

/// Whether a text lies within the body of its reply.
fn is_slice<T>(reply: &Response<T>, text: &str) -> bool {
    reply.bytes().as_ptr_range().contains(&text.as_ptr())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    display_name: Text,
}

async fn people(server: &ReferenceServer) -> Response<Page<Record>> {
    answer(server, Operation::ListPeople, page());
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
    // The rest of a page is small, and not worth its memory.
    assert!(!is_slice(&page, page.extra.get("total").unwrap().as_str()));
    let ann = records[0].clone();
    drop(page);
    assert_eq!(ann.text("displayName").as_deref(), Some("Ann Ähren"));
}

#[tokio::test]
async fn a_text_is_a_slice_unless_it_has_escapes() {
    let server = ReferenceServer::start().await;
    answer(&server, Operation::ListPeople, page());
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
    assert_eq!(serde_json::to_string(&bob.display_name).unwrap(), "\"Böb\"");
    // What is no part of a reply is copied.
    let other: Person = serde_json::from_str(ANN).unwrap();
    assert_eq!(other.display_name, ann.display_name);
    let other: Person = BOB.parse::<Record>().unwrap().decode().unwrap();
    assert_eq!(other.display_name, "Böb");
}

#[tokio::test]
async fn a_record_within_a_typed_reply_is_a_slice_too() {
    let server = ReferenceServer::start().await;
    let today = crm_for(&server).today().get().await.unwrap();
    assert!(is_slice(&today, today.counts.raw().as_str()));
}
