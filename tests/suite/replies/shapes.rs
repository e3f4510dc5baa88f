//! Rows 43, 52, 57, 58, 59, 66 and 86: replies without a body, of another shape, or of absurd size.

use sdk_core::{Effect, Error, ErrorKind, Method};
use serde_json::{Value, json};

use crate::fixtures::{PERSON, add_person, committed, created, get_person, person};
use crate::peer::{Over, Peer, always, endless, json, over_all, reply, script};
use crate::samples::kick_off;
use crate::support::{
    Clients, assert_says, assert_tried, builder_at, builder_to, calendar_at, crm_at,
    quick_tokens_with, suite_at,
};
use crate::walks;

over_all! {
    fault_43_memory_is_taken_for_bytes_that_came
    fault_57_a_2xx_without_a_body_is_a_success_where_no_body_is_shown
    fault_57_where_a_body_is_shown_its_absence_is_an_error
    fault_57_a_202_with_a_result_is_not_called_committed
}

/// An error about a 2xx that came: it has its status, and may have had an effect.
pub(super) fn assert_unreadable(error: &Error, kind: ErrorKind, words: &[&str]) {
    assert_tried(error, kind, Effect::Unknown, 1);
    assert!(matches!(error.status(), Some(200..=299)), "{error}");
    assert!(error.body().is_some() && !error.is_retryable());
    assert_says(error, words);
}

/// A raw call of what the contract does not show.
fn notes(crm: &sdk_crm::Client, method: Method) -> sdk_core::RawCall {
    crm.raw_call((method, "/api/crm/v1/notes"))
}

async fn fault_43_memory_is_taken_for_bytes_that_came(over: Over) {
    let huge = Some(1_u64 << 62);
    let peer = over.start([endless(huge).cut_short(), person()]);
    let crm = builder_to(&peer)
        .max_response_bytes(usize::MAX)
        .max_response_elements(usize::MAX)
        .crm();
    let person = get_person(&crm).await.unwrap();
    // The first reply broke off, and nothing was taken for what it promised.
    assert_eq!(person.attempts(), 2);

    let policy = quick_tokens_with(|it| it.max_response_bytes = usize::MAX);
    let peer = over.start(always(crate::fixtures::person()).tokens([endless(huge).cut_short()]));
    let crm = builder_to(&peer).token_policy(policy).crm();
    get_person(&crm).await.unwrap();
    assert_eq!(peer.exchanges().len(), 2);
}

#[tokio::test]
async fn fault_52_a_page_of_millions_of_small_elements_is_an_error() {
    let page = |count: usize| {
        let items = "{},".repeat(count - 1);
        reply(200).body(format!(r#"{{"items":[{items}{{}}],"nextCursor":null}}"#))
    };
    // Within the bytes that a reply may have.
    let peer = Peer::start([page(5_000_000)]);
    let error = crm_at(&peer).people().list().await.unwrap_err();
    let limit = "`max_response_elements`";
    let words = ["more than 100000 elements and members", limit];
    assert_unreadable(&error, ErrorKind::Decode, &words);
    assert_eq!(peer.requests().len(), 1);

    let peer = Peer::start([page(2_000), page(1_001), page(900)]);
    let crm = builder_at(&peer.url()).max_response_elements(1_000).crm();
    for _ in 0..2 {
        crm.people().list().await.unwrap_err();
    }
    let page = crm.people().list().await.unwrap();
    assert_eq!(page.items().unwrap().len(), 900);
}

#[tokio::test]
async fn fault_86_a_flood_of_elements_or_members_is_an_error_wherever_it_is() {
    let members: Vec<_> = (0..600_000).map(|n| format!(r#","m{n}":{n}"#)).collect();
    let members = members.concat();
    let commas = "0,".repeat(600_000);
    let floods = [
        format!(r#"{{"publicReference":"{PERSON}"{members}}}"#),
        format!(r#"{{"publicReference":"{PERSON}","deep":{{"list":[{commas}0]}}}}"#),
    ];
    for flood in floods {
        let peer = Peer::start(always(reply(200).body(flood)));
        let crm = crm_at(&peer);
        for error in [
            get_person(&crm).await.unwrap_err(),
            crm.search().query("ann").await.unwrap_err(),
            notes(&crm, Method::Get).await.unwrap_err(),
        ] {
            assert_unreadable(&error, ErrorKind::Decode, &["elements and members"]);
        }
    }
    // What stands in a text is no element.
    let text = "[,{".repeat(600_000);
    let peer = Peer::start([json(200, &json!({"publicReference": PERSON, "note": text}))]);
    get_person(&crm_at(&peer)).await.unwrap();
}

async fn fault_57_a_2xx_without_a_body_is_a_success_where_no_body_is_shown(over: Over) {
    for status in [200, 201, 202, 204] {
        let peer = over.start([reply(status), reply(status), reply(status), reply(status)]);
        let suite = suite_at(&peer);
        let (crm, calendar) = (suite.crm(), suite.calendar());

        let health = crm.service().health().await.unwrap();
        assert!(health.is_null() && health.bytes().is_empty());
        let receipt = add_person(&crm).await.unwrap();
        assert_eq!((receipt.http_status(), receipt.attempts()), (status, 1));
        // Only a status that the contract shows for it is known to mean a commit.
        let shown = (status <= 201).then_some(true);
        assert_eq!(receipt.is_committed(), shown, "{status}");
        let replay = shown.map(|_| status == 200);
        assert_eq!(receipt.is_replay(), replay, "{status}");
        let hold = calendar.holds().manage(json!({})).await.unwrap();
        assert_eq!((hold.is_committed(), hold.is_replay()), (None, None));
        notes(&crm, Method::Post).await.unwrap();

        assert_eq!(peer.requests().len(), 4, "nothing is sent again");
    }
}

async fn fault_57_where_a_body_is_shown_its_absence_is_an_error(over: Over) {
    let peer = over.start(always(reply(204)));
    let crm = crm_at(&peer);
    let empty = "the body is empty";
    let error = crm.today().get().await.unwrap_err();
    assert_unreadable(&error, ErrorKind::Decode, &[empty]);
    let error = get_person(&crm).await.unwrap_err();
    assert_unreadable(&error, ErrorKind::Decode, &[empty]);
    let calendar = calendar_at(&peer);
    let error = kick_off(&calendar).await.unwrap_err();
    assert_unreadable(&error, ErrorKind::Decode, &[empty, "its effect is unknown"]);
    let again = calendar.send_prepared(error.command().unwrap());
    let again = again.await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Decode, "as raw JSON too");
    assert_eq!(peer.requests().len(), 4);
}

async fn fault_57_a_202_with_a_result_is_not_called_committed(over: Over) {
    let accepted = created().with_status(202);
    let peer = over.start([accepted, committed().with_status(202)]);
    let suite = suite_at(&peer);
    let calendar = suite.calendar();
    let receipt = kick_off(&calendar).await.unwrap();
    assert_eq!((receipt.is_committed(), receipt.http_status()), (None, 202));
    let crm = suite.crm();
    let receipt = add_person(&crm).await.unwrap();
    assert_eq!((receipt.is_committed(), receipt.is_replay()), (None, None));
}

#[tokio::test]
async fn fault_58_a_page_without_its_cursor_is_an_error_and_never_the_end() {
    let odd = [
        "{} | the object has items",
        r#"{"next_cursor": "c", "total": 9} | items, next_cursor, total"#,
        r#"{"nextCursor": 7} | found 7"#,
        r#"{"nextCursor": {"at": 1}} | expected a string"#,
    ];
    for row in odd {
        let (page, said) = row.split_once(" | ").unwrap();
        let mut page: Value = serde_json::from_str(page).unwrap();
        let words = ["`nextCursor`", said];
        page["items"] = json!([{"publicReference": PERSON}]);
        let first = walks::page(&[PERSON], "c-2");
        let rest = json(200, &page);
        let peer = Peer::start(script([first]).then_always(rest));
        let crm = crm_at(&peer);
        let mut people = crm.people().list().items();
        people.try_next().await.unwrap().unwrap();
        let error = people.try_next().await.unwrap_err();
        assert_unreadable(&error, ErrorKind::Decode, &words);
        assert!(!people.checkpoint().is_finished() && people.checkpoint().delivered() == 1);
        let error = crm.tasks().list().await.unwrap_err();
        assert_unreadable(&error, ErrorKind::Decode, &words);
    }
}

#[tokio::test]
async fn fault_58_a_page_without_items_has_its_status_and_an_honest_effect() {
    let odd = json!({"people": [], "nextCursor": null});
    let peer = Peer::start(always(json(200, &odd).header("x-request-id", "req-58")));
    let mut people = crm_at(&peer).people().list().items();
    let error = people.try_next().await.unwrap_err();
    assert_unreadable(&error, ErrorKind::Pagination, &["no `items`", "`people`"]);
    assert_eq!(error.request_id(), Some("req-58"));

    // Where the page is documented it is an error at once.
    let odd = json!({"schemaVersion": "suite-crm-opportunities-page.v2", "opportunities": [], "nextCursor": null});
    let peer = Peer::start(always(json(200, &odd)));
    let error = crm_at(&peer).opportunities().list().await.unwrap_err();
    let words = ["no `items`", "`opportunities`"];
    assert_unreadable(&error, ErrorKind::Decode, &words);
}
