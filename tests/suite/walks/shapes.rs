//! Lists of every kind, and pages of shapes that nobody expects.

use sdk_core::{ErrorKind, Page, RawJson, Record};
use serde_json::{Value, json};

use super::{name, page, rest};
use crate::peer::{self, Peer};
use crate::support::{Ahead as _, assert_says, crm_at};

#[tokio::test]
async fn a_page_without_items_is_an_error_that_lists_what_came() {
    let odd = json!({"schemaVersion": "people.v7", "people": [{"publicReference": "b"}], "total": null,
        "nextCursor": "cursor-3"});
    for ahead in [false, true] {
        let peer = Peer::start([page(&["a"], "cursor-2"), peer::json(200, &odd)]);
        let mut items = crm_at(&peer).people().list().items().ahead(ahead);

        let (names, error) = rest(&mut items).await;

        assert_eq!(names, ["a"]);
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert_eq!(error.operation().unwrap().id, "listPeople");
        let members = "`schemaVersion`, `nextCursor`, `people`, `total` (null)";
        assert_says(&error, &[members, "A07", "`pages()`"]);
        assert!(items.try_next().await.unwrap().is_none());
        // That page was not delivered, so that is where to go on.
        let at = items.checkpoint();
        assert_eq!((at.cursor(), at.delivered()), (Some("cursor-2"), 1));
    }
}

#[tokio::test]
async fn pages_deliver_a_page_without_items_as_it_came() {
    let odd = json!({"people": [{"publicReference": "a"}], "nextCursor": "cursor-2"});
    let peer = Peer::start([
        peer::json(200, &odd),
        peer::json(200, &json!({"items": null, "nextCursor": null})),
        peer::json(200, &odd),
    ]);
    let crm = crm_at(&peer);
    let mut pages = crm.people().list().pages();

    let first = pages.try_next().await.unwrap().unwrap();
    assert!(first.items.is_none());
    let people: Vec<Record> = first.extra.get("people").unwrap().decode().unwrap();
    assert_eq!(people[0].text("publicReference").as_deref(), Some("a"));
    assert_eq!(serde_json::from_slice::<Value>(first.bytes()).unwrap(), odd);

    let second = pages.try_next().await.unwrap().unwrap();
    assert!(second.items.is_none());
    assert!(pages.try_next().await.unwrap().is_none());

    let single = crm.people().list().await.unwrap().into_inner();
    let error = single.into_items().unwrap_err();
    assert_says(&error, &["`nextCursor`, `people`"]);
}

#[test]
fn a_page_gives_its_records_or_an_error() {
    let page = |text| serde_json::from_str::<Page<Record>>(text).unwrap();
    let two =
        page(r#"{"items":[{"publicReference":"a"},{"publicReference":"b"}],"nextCursor":null}"#);
    let names: Vec<_> = two.items().unwrap().iter().map(name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(two.items().unwrap(), two.clone().into_items().unwrap());

    let none = page(r#"{"nextCursor":null}"#);
    assert_says(&none.items().unwrap_err(), &["no `items`"]);
    assert_says(&none.into_items().unwrap_err(), &["no `items`"]);
}

#[test]
fn a_page_is_written_with_each_member_once() {
    let text = r#"{"schemaVersion":null,"items":null,"nextCursor":null,"total":2}"#;
    let mut page: Page<Record> = serde_json::from_str(text).unwrap();
    let write = |page: &Page<Record>| serde_json::to_value(page).unwrap();
    let once = |page: &Page<Record>, name| {
        let text = serde_json::to_string(page).unwrap();
        text.matches(&format!("\"{name}\"")).count()
    };
    assert_eq!(write(&page), serde_json::from_str::<Value>(text).unwrap());
    // What a program sets takes the place of the null that came.
    (page.schema_version, page.items) = (Some("v".into()), Some(Vec::new()));
    page.extra.insert("nextCursor", RawJson::null());
    for name in ["schemaVersion", "items", "nextCursor"] {
        assert_eq!(once(&page, name), 1, "{name}");
    }
    let whole = json!({"schemaVersion": "v", "items": [], "nextCursor": null, "total": 2});
    assert_eq!(write(&page), whole);
    let odd = serde_json::from_str::<Page<Record>>("[]").unwrap_err();
    assert_says(&odd, &["an object (Page)"]);
}

#[tokio::test]
async fn unknown_members_of_a_page_are_kept() {
    let whole = json!({"schemaVersion": "people.v7", "items": [{"a": 1.10}], "total": 12, "nextCursor": null});
    let peer = Peer::start([peer::json(200, &whole)]);

    let page = crm_at(&peer).people().list().await.unwrap();

    assert_eq!(page.extra.get("total").unwrap().as_str(), "12");
    assert_eq!(serde_json::to_value(&*page).unwrap(), whole);
}
