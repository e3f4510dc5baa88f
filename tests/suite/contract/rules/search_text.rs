//! `q` has 2 to 100 characters.

use sdk_reference_server::App;

use crate::contract::both::Both;
use crate::contract::listing::Listing;

fn lists(both: &Both, q: &str) -> Vec<(&'static str, Listing)> {
    let crm = &both.world.crm;
    vec![
        ("people", crm.people().list().q(q).into_future()),
        (
            "organizations",
            crm.organizations().list().q(q).into_future(),
        ),
        (
            "opportunities",
            crm.opportunities().list().q(q).into_future(),
        ),
        ("tasks", crm.tasks().list().q(q).into_future()),
    ]
}

/// Characters count, not bytes: each of these has two.
fn text(length: usize) -> (String, String) {
    ("é".repeat(length), "%C3%A9".repeat(length))
}

#[tokio::test]
async fn q_has_2_to_100_characters_on_every_list_that_has_it() {
    let both = Both::sides_of(App::Crm).await;

    for length in [0, 1, 101] {
        let (q, encoded) = text(length);
        let plural = if length == 1 { "" } else { "s" };
        let why = format!("`q` must have 2 to 100 characters: got {length} character{plural}");
        for (list, call) in lists(&both, &q) {
            let target = format!("/api/crm/v1/{list}?q={encoded}");
            both.refuse(call, &why, &target).await;
        }
    }
    for length in [2, 100] {
        let (q, encoded) = text(length);
        for (list, call) in lists(&both, &q) {
            let target = format!("/api/crm/v1/{list}?q={encoded}");
            let page = both.accept(call, &target).await;
            assert!(page.items().unwrap().is_empty(), "nobody is called {q}");
        }
    }
}

#[tokio::test]
async fn q_has_2_to_100_characters_on_the_search_and_must_be_there() {
    let both = Both::sides_of(App::Crm).await;

    for length in [0, 1, 101] {
        let (q, encoded) = text(length);
        let plural = if length == 1 { "" } else { "s" };
        let why = format!("`q` must have 2 to 100 characters: got {length} character{plural}");
        let target = format!("/api/crm/v1/search?q={encoded}");
        both.refuse(both.world.crm.search().query(q), &why, &target)
            .await;
    }
    for length in [2, 100] {
        let (q, encoded) = text(length);
        let target = format!("/api/crm/v1/search?q={encoded}");
        both.accept(both.world.crm.search().query(q), &target).await;
    }
    // The SDK's builder cannot be made without it.
    assert_eq!(both.bypass.get("/api/crm/v1/search").await.status, 400);
}
