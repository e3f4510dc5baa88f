//! Lists of every kind, and pages of shapes that nobody expects.

use sdk_core::{ErrorKind, Items, Record};
use serde_json::{Value, json};

use super::{page, rest, server_of};
use crate::peer::{self, Peer};
use crate::support::{Ahead as _, crm_at, crm_for};

#[tokio::test]
async fn all_six_lists_are_walked_to_their_ends() {
    let server = server_of(120).await;
    let crm = crm_for(&server);
    let person = server.sample_person();
    let walks: [(&str, Items<Record>, Items<Record>); 6] = [
        (
            "people",
            crm.people().list().limit(50).items(),
            crm.people().list().limit(7).items(),
        ),
        (
            "organizations",
            crm.organizations().list().limit(50).items(),
            crm.organizations().list().limit(7).items(),
        ),
        (
            "opportunities",
            crm.opportunities().list().limit(50).items(),
            crm.opportunities().list().limit(7).items(),
        ),
        (
            "tasks",
            crm.tasks().list().limit(50).items(),
            crm.tasks().list().limit(7).items(),
        ),
        (
            "intake",
            crm.intake().list().limit(50).items(),
            crm.intake().list().limit(7).items(),
        ),
        (
            "timeline",
            crm.people().timeline(person.as_str()).limit(200).items(),
            crm.people().timeline(person.as_str()).limit(33).items(),
        ),
    ];
    for (list, mut large, mut small) in walks {
        let mut raw = Vec::new();
        while let Some(item) = large.try_next().await.unwrap() {
            raw.push(item.to_string());
        }
        assert!(raw.len() > 7, "{list}");
        for item in &raw {
            let same = small.try_next().await.unwrap().unwrap();
            assert_eq!(same.to_string(), *item, "{list}");
        }
        assert!(small.try_next().await.unwrap().is_none(), "{list}");
    }
}

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
        assert_eq!(
            error.operation().map(|operation| operation.id),
            Some("listPeople")
        );
        let told = error.to_string();
        for part in [
            "`schemaVersion`, `nextCursor`, `people`, `total` (null)",
            "A07",
            "`pages()`",
        ] {
            assert!(told.contains(part), "{told}");
        }
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

    // Nor is the error swallowed by who asks for the items at once, or loops over them.
    let single = crm.people().list().await.unwrap();
    let looped: Vec<_> = (&single).into_iter().collect();
    let looped = looped.into_iter().map(Result::unwrap_err).next().unwrap();
    assert_eq!(
        (looped.status(), looped.body()),
        (Some(200), Some(&**single.bytes()))
    );
    let single = single.into_inner();
    let (borrowed, mut owned) = (single.items().unwrap_err(), single.clone().into_iter());
    let [owned, none] = [owned.next(), owned.next()];
    assert!(none.is_none());
    for error in [
        looped,
        borrowed,
        owned.unwrap().unwrap_err(),
        single.into_items().unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(text.contains("`nextCursor`, `people`"), "{text}");
    }
}

#[tokio::test]
async fn a_page_is_looped_over_in_order_owned_and_borrowed() {
    let peer = Peer::start([page(&["a", "b"], "cursor-2")]);
    let response = crm_at(&peer).people().list().await.unwrap();
    let page = (*response).clone();
    let mut looped = [const { Vec::new() }; 4];
    for person in &response {
        looped[0].push(person.unwrap().to_string());
    }
    for person in &page {
        looped[1].push(person.unwrap().to_string());
    }
    assert_eq!((&page).into_iter().size_hint(), (2, Some(2)));
    for person in response {
        looped[2].push(person.unwrap().to_string());
    }
    for person in page.clone() {
        looped[3].push(person.unwrap().to_string());
    }
    let items: Vec<_> = page
        .items()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(items.len(), 2);
    assert_eq!(looped, std::array::from_fn::<_, 4, _>(|_| items.clone()));
}

#[tokio::test]
async fn unknown_members_of_a_page_are_kept() {
    let whole = json!({"schemaVersion": "people.v7", "items": [{"a": 1.10}], "total": 12, "nextCursor": null});
    let peer = Peer::start([peer::json(200, &whole)]);

    let page = crm_at(&peer).people().list().await.unwrap();

    assert_eq!(page.extra.get("total").unwrap().as_str(), "12");
    assert_eq!(serde_json::to_value(&*page).unwrap(), whole);
}
