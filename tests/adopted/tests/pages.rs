//! Pages with typed items and other fields.

use futures_util::TryStreamExt as _;
use sdk_adopted::testing::ScriptedTransport;
use sdk_adopted::types::{Activity, PeoplePageMembers};
use sdk_adopted::{Client, Effect, ErrorKind, Page, Pages};

use crate::{PERSON, assert_failed, assert_says};

const FIRST: &str = r#"{"total":2,"items":[{"kind":"call","occurredAt":"2026-01-01T00:00:00Z"}],"facets":{"a":[{"value":1.10,"count":1}]},"nextCursor":"c2"}"#;
const LAST: &str = r#"{"items":[{"kind":"fax","n":1.10}],"nextCursor":null,"took":7}"#;

fn pages(transport: &ScriptedTransport) -> Pages<Activity> {
    let crm = Client::new(&transport.suite().build().unwrap()).unwrap();
    crm.people().timeline(PERSON).pages()
}

#[tokio::test]
async fn items_and_other_fields_of_a_page_are_typed() {
    let script = || ScriptedTransport::new().json(200, FIRST).json(200, LAST);
    let mut stream = pages(&script());
    let first = stream.try_next().await.unwrap().unwrap();
    assert!(matches!(first.items().unwrap(), [Activity::Call(_)]));
    let others: PeoplePageMembers = first.members().unwrap();
    assert_eq!((others.total, others.extra.len()), (2, 0));
    let [facet] = &others.facets.unwrap()["a"][..] else {
        panic!("it has one facet")
    };
    assert_eq!(facet.value.as_ref().unwrap().as_str(), "1.10");
    let last = stream.try_next().await.unwrap().unwrap();
    let error = last.members::<PeoplePageMembers>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    let words = "at `total`: required field is missing; the object has took";
    assert_says(&error, &[words]);
    assert!(stream.try_next().await.unwrap().is_none());

    let items: Vec<Activity> = pages(&script()).items().try_collect().await.unwrap();
    let tags: Vec<_> = items.iter().filter_map(Activity::tag).collect();
    assert_eq!(tags, ["call", "fax"]);
    let page: Page<Activity> = serde_json::from_str(LAST).unwrap();
    assert_eq!(serde_json::to_string(&page).unwrap(), LAST);
}

#[tokio::test]
async fn an_item_that_does_not_fit_is_an_error_with_its_path() {
    let odd = FIRST.replace("2026", "26");
    let transport = ScriptedTransport::new().json(200, odd);
    let error = pages(&transport).try_next().await.unwrap_err();
    let words = "at `items[0]`: expected a valid variant (an RFC 3339 date-time)";
    assert_failed(&error, ErrorKind::Decode, Effect::Unknown, &[words]);
}
