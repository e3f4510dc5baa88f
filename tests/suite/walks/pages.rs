//! Pages as values, and pages without items.

use sdk_core::{Page, RawJson, Record};
use serde_json::{Value, json};

use crate::peer::{self, Peer};
use crate::support::{assert_says, crm_at};

#[tokio::test]
async fn pages_deliver_a_page_without_items_and_unknown_fields_as_they_came() {
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
fn a_page_is_written_with_each_field_once() {
    let text = r#"{"schemaVersion":null,"items":null,"nextCursor":null,"total":2}"#;
    let mut page: Page<Record> = serde_json::from_str(text).unwrap();
    let write = |page: &Page<Record>| serde_json::to_value(page).unwrap();
    assert_eq!(write(&page), serde_json::from_str::<Value>(text).unwrap());
    // A field that a program sets replaces the null that came.
    (page.schema_version, page.items) = (Some("v".into()), Some(Vec::new()));
    page.extra.insert("nextCursor", RawJson::null());
    let text = serde_json::to_string(&page).unwrap();
    for name in ["schemaVersion", "items", "nextCursor"] {
        assert_eq!(text.matches(&format!("\"{name}\"")).count(), 1, "{name}");
    }
    let whole = json!({"schemaVersion": "v", "items": [], "nextCursor": null, "total": 2});
    assert_eq!(write(&page), whole);
    let odd = serde_json::from_str::<Page<Record>>("[]").unwrap_err();
    assert_says(&odd, &["an object (Page)"]);
}
