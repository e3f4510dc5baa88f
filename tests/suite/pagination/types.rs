//! Pages as values, and lists whose records are decoded into the caller's type.

use sdk_core::{Effect, ErrorKind, Page, RawJson, Record};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{crm_of, name, page, rest};
use crate::peer::{self, Peer, stall};
use crate::support::{Ahead as _, assert_failed, assert_says, crm_at, drop_when};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    public_reference: String,
    display_name: String,
}

#[tokio::test]
async fn a_list_changes_its_record_type_at_any_item_without_losing_items() {
    let (_server, crm) = crm_of(23);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    for ahead in [false, true] {
        for place in 0..=all.len() {
            let mut records = crm.people().list().limit(5).items().ahead(ahead);
            let mut names = Vec::new();
            for _ in 0..place {
                names.push(name(&records.try_next().await.unwrap().unwrap()));
            }

            // The page that is fetched twice counts once.
            let mut people = records.max_pages(5).decode::<Person>();
            while let Some(person) = people.try_next().await.unwrap() {
                assert!(!person.display_name.is_empty());
                names.push(person.public_reference);
            }

            assert_eq!(names, all, "{place}");
            let at = people.checkpoint();
            assert!(at.is_finished() && at.delivered() == all.len() as u64);
        }
    }
    let mut pages = crm.people().list().limit(5).pages().decode::<Person>();
    let first = pages.try_next().await.unwrap().unwrap();
    assert_eq!(first.items().unwrap()[4].public_reference, all[4]);
    // Fields that the type doesn't have are still in the response.
    assert!(first.bytes().windows(7).any(|part| part == b"\"email\""));
}

#[tokio::test]
async fn a_page_in_flight_is_used_by_the_list_with_the_new_type() {
    let person = json!({"publicReference": "b", "displayName": "B"});
    let last = peer::json(200, &json!({"items": [person], "nextCursor": null}));
    let peer = Peer::start([page(&["a"], "second"), stall(), last]);
    let mut pages = crm_at(&peer).people().list().pages();
    pages.try_next().await.unwrap();
    drop_when(peer.saw(2), pages.try_next()).await;

    let mut pages = pages.decode::<Person>();
    let page = pages.try_next().await.unwrap().unwrap();

    assert_eq!(page.items().unwrap()[0].display_name, "B");
    assert!(pages.try_next().await.unwrap().is_none());
    assert_eq!(pages.checkpoint().delivered(), 2);
}

#[tokio::test]
async fn a_record_that_does_not_decode_is_named_and_available_as_raw_json() {
    let odd = json!({"items": [
        {"publicReference": "a", "displayName": "A"},
        {"publicReference": "b", "displayName": ["B"]},
    ], "nextCursor": null});
    let odd_page = || peer::json(200, &odd);
    let peer = Peer::start([page(&[], "second"), odd_page(), odd_page()]);
    let list = || crm_at(&peer).people().list();
    let mut people = list().items().decode::<Person>();

    let error = people.try_next().await.unwrap_err();

    assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
    assert_says(&error.message(), &["`items[1].displayName`"]);
    assert_eq!(error.body(), Some(odd.to_string().as_bytes()));
    assert!(
        people.try_next().await.unwrap().is_none(),
        "the list has ended"
    );

    let mut records = list().items().resume(people.checkpoint());
    assert_eq!(rest(&mut records).await.0, ["a", "b"]);
}

/// A person that borrows its strings.
#[derive(Debug, Deserialize)]
struct Seen<'a> {
    #[serde(rename = "publicReference")]
    reference: &'a str,
    #[serde(borrow, rename = "displayName")]
    name: Option<std::borrow::Cow<'a, str>>,
}

#[tokio::test]
async fn a_page_can_be_viewed_without_copying_its_strings() {
    let page = peer::json(
        200,
        &json!({"nextCursor": null, "items": [
            {"publicReference": "a", "displayName": "Ann"},
            {"publicReference": "b", "displayName": "say \"b\""},
        ]}),
    );
    let page = crm_at(&Peer::start([page])).people().list().await.unwrap();

    let people: Vec<Seen<'_>> = page.view().unwrap();

    let names = people.iter().map(|person| person.name.as_deref().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["Ann", "say \"b\""]);
    for (record, person) in page.items().unwrap().iter().zip(&people) {
        let text = record.raw().as_str().as_bytes().as_ptr_range();
        assert!(text.contains(&person.reference.as_ptr()));
        let field = record.get::<&str>("publicReference").unwrap().unwrap();
        assert_eq!(field.as_ptr(), person.reference.as_ptr());
        assert_eq!(record.view::<Seen<'_>>().unwrap().reference, field);
    }
}

#[tokio::test]
async fn pages_deliver_pages_without_items_and_with_unknown_fields() {
    let odd = json!({"people": [{"publicReference": "a"}], "nextCursor": "cursor-2"});
    let last =
        json!({"schemaVersion": "people.v7", "items": null, "total": 1.10, "nextCursor": null});
    let steps = [&odd, &last, &odd].map(|page| peer::json(200, page));
    let peer = Peer::start(steps);
    let crm = crm_at(&peer);
    let mut pages = crm.people().list().pages();

    let first = pages.try_next().await.unwrap().unwrap();
    assert!(first.items.is_none());
    let people: Vec<Record> = first.extra.get("people").unwrap().decode().unwrap();
    assert_eq!(people[0].text("publicReference").as_deref(), Some("a"));
    assert_eq!(serde_json::from_slice::<Value>(first.bytes()).unwrap(), odd);

    let second = pages.try_next().await.unwrap().unwrap();
    assert!(second.items.is_none());
    assert_eq!(second.extra.get("total").unwrap().as_str(), "1.1");
    assert_eq!(serde_json::to_value(&*second).unwrap(), last);
    assert!(pages.try_next().await.unwrap().is_none());

    let single = crm.people().list().await.unwrap().into_inner();
    for error in [
        single.items().unwrap_err(),
        single.clone().into_items().unwrap_err(),
    ] {
        assert_says(&error, &["no `items`", "`nextCursor`, `people`"]);
    }
}

#[test]
fn a_page_is_serialized_with_each_field_once() {
    let text = r#"{"schemaVersion":null,"items":null,"nextCursor":null,"total":2}"#;
    let mut page: Page<Record> = serde_json::from_str(text).unwrap();
    let write = |page: &Page<Record>| serde_json::to_value(page).unwrap();
    assert_eq!(write(&page), serde_json::from_str::<Value>(text).unwrap());
    // A field that a program sets replaces the received null.
    (page.schema_version, page.items) = (Some("v".into()), Some(Vec::new()));
    page.extra.insert("nextCursor", RawJson::null());
    let text = serde_json::to_string(&page).unwrap();
    for name in ["schemaVersion", "items", "nextCursor"] {
        assert_eq!(text.matches(&format!("\"{name}\"")).count(), 1, "{name}");
    }
    let original = json!({"schemaVersion": "v", "items": [], "nextCursor": null, "total": 2});
    assert_eq!(write(&page), original);
    let odd = serde_json::from_str::<Page<Record>>("[]").unwrap_err();
    assert_says(&odd, &["an object (Page)"]);
}
