//! Rows 30, 43, 52 and 86: responses that are too large or declare too large a size.

use sdk_core::{Effect, ErrorKind, Method};

use crate::fixtures::{get_person, person};
use crate::peer::{
    Client, Over, Peer, Protocol, always, endless, gzip_bomb, over_all, reply, script,
};
use crate::support::{
    Clients, assert_failed, assert_says, assert_tried, builder_to, crm_at, quick_tokens_with,
};

over_all! {
    fault_30_a_body_is_read_up_to_the_limit
    fault_30_the_status_of_an_endless_error_page_decides
    fault_30_an_endless_401_still_renews_the_token
    fault_30_a_token_response_is_read_up_to_its_limit
    fault_30_headers_are_bounded_too
    fault_43_memory_is_allocated_for_received_bytes_only
}

/// The limit of a response in these tests.
const LIMIT: usize = 1024 * 1024;

/// The maximum number of bytes in both socket buffers when the connection closes.
const BUFFERED: usize = 32 * 1024 * 1024;

const GIGABYTE: u64 = 1024 * 1024 * 1024;

/// Reads a person with this limit.
async fn read(peer: &Peer) -> sdk_core::Error {
    let crm = builder_to(peer).max_response_bytes(LIMIT).crm();
    get_person(&crm).await.unwrap_err()
}

async fn fault_30_a_body_is_read_up_to_the_limit(over: Over) {
    let bomb = person()
        .header("content-encoding", "gzip")
        .body(gzip_bomb(64));
    for (name, step) in [
        ("announced", endless(Some(GIGABYTE))),
        ("endless", endless(None)),
        ("bomb", bomb),
    ] {
        let peer = over.start(always(step.header("x-request-id", "req-30")));

        let error = read(&peer).await;

        assert_eq!(error.kind(), ErrorKind::Decode, "{name}: {error}");
        assert_eq!((error.status(), error.attempts()), (Some(200), 1));
        assert_eq!(error.request_id(), Some("req-30"));
        assert!(!error.is_retryable());
        // Only reqwest decompresses.
        let is_packed = over.client == Client::Hyper && name == "bomb";
        let message = if is_packed {
            "compressed (gzip)"
        } else {
            "larger than 1048576 bytes"
        };
        assert_says(&error.message(), &[message]);
        // If the declared size is too large, the body is not read at all.
        let read = error.body().unwrap_or_default().len();
        assert!(read <= if name == "announced" { 0 } else { 1024 }, "{read}");
        peer.has_open(0).await;
        assert!(peer.written() < BUFFERED, "{name}: {}", peer.written());
        let seen = peer.requests();
        assert_eq!(seen.len(), 1, "{name}");
        let packed = (over.client == Client::Reqwest).then_some("gzip");
        assert_eq!(seen[0].header("accept-encoding"), packed);
    }
}

async fn fault_30_the_status_of_an_endless_error_page_decides(over: Over) {
    let cut = reply(503).body("<html>").cut_at(3);
    for step in [endless(None), endless(Some(GIGABYTE)), cut] {
        for (status, kind, attempts) in [
            (503, ErrorKind::Unavailable, 3),
            (404, ErrorKind::NotFound, 1),
        ] {
            let peer = over.start(always(step.clone().with_status(status)));

            let error = read(&peer).await;

            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!((error.status(), error.attempts()), (Some(status), attempts));
        }
    }
}

async fn fault_30_an_endless_401_still_renews_the_token(over: Over) {
    let peer = over.start([endless(None).with_status(401), person()]);

    let person = get_person(&crm_at(&peer)).await.unwrap();

    assert_eq!(person.attempts(), 2);
    assert_eq!(peer.exchanges().len(), 2);
}

async fn fault_30_a_token_response_is_read_up_to_its_limit(over: Over) {
    for (status, kind, says) in [
        (
            200,
            ErrorKind::TokenUnavailable,
            "it has more than 65536 bytes; check the address of the token endpoint, or raise `max_response_bytes`",
        ),
        (
            400,
            ErrorKind::Unauthenticated,
            "token request rejected (status 400)",
        ),
    ] {
        let step = endless(None).with_status(status);
        let peer = over.start(always(person()).tokens_always(step));

        let error = read(&peer).await;

        assert_failed(&error, kind, Effect::NotSent);
        assert_says(&error, &[says]);
        assert_eq!((error.code(), error.is_retryable()), (None, false));
        assert_eq!(peer.exchanges().len(), 1);
        assert!(peer.written() < BUFFERED, "{}", peer.written());
    }
}

async fn fault_30_headers_are_bounded_too(over: Over) {
    let many = (0..10_000).fold(person(), |step, number| {
        step.header(&format!("x-{number}"), "value")
    });
    let long = person().header("x-long", "x".repeat(4 * 1024 * 1024));
    for step in [many, long] {
        let peer = over.start(always(step));

        let error = read(&peer).await;

        assert_failed(&error, ErrorKind::Transport, Effect::Unknown);
        let message = match over.protocol {
            Protocol::Http1 => "too large",
            Protocol::Http2 => "connection error detected",
        };
        assert_says(&error.message(), &[message]);
        peer.has_open(0).await;
    }
}

async fn fault_43_memory_is_allocated_for_received_bytes_only(over: Over) {
    let promise = endless(Some(1_u64 << 62)).cut_short();
    let peer = over.start(script([promise.clone(), person()]).tokens([promise]));
    let policy = quick_tokens_with(|it| it.max_response_bytes = usize::MAX);
    let crm = builder_to(&peer)
        .max_response_bytes(usize::MAX)
        .max_response_elements(usize::MAX)
        .token_policy(policy)
        .crm();
    // The first responses ended early, and no memory was allocated for the declared length.
    assert_eq!(get_person(&crm).await.unwrap().attempts(), 2);
    assert_eq!(peer.exchanges().len(), 2);
}

/// Makes calls that return a page, a record and raw JSON, with a limit of 1,000 elements and fields.
async fn assert_floods(body: String, is_flood: bool) {
    let peer = Peer::start(always(reply(200).body(body)));
    let crm = builder_to(&peer).max_response_elements(1_000).crm();
    let raw = crm.raw_call((Method::Get, "/api/crm/v1/notes"));
    for result in [
        crm.people().list().await.map(drop),
        get_person(&crm).await.map(drop),
        crm.search().query("ann").await.map(drop),
        raw.await.map(drop),
    ] {
        let Err(error) = result else {
            assert!(!is_flood);
            continue;
        };
        assert!(is_flood, "{error}");
        assert_tried(&error, ErrorKind::Decode, Effect::Unknown, 1);
        assert!(error.status() == Some(200) && error.body().is_some() && !error.is_retryable());
        let words = [
            "more than 1000 elements and fields",
            "`max_response_elements`",
        ];
        assert_says(&error, &words);
    }
}

#[tokio::test]
async fn fault_86_too_many_elements_or_fields_are_an_error_at_any_place() {
    let page = |more: &str| format!(r#"{{"items":[],"nextCursor":null{more}}}"#);
    let fields: Vec<_> = (0..1_001).map(|n| format!(r#","m{n}":{n}"#)).collect();
    let commas = "0,".repeat(1_001);
    assert_floods(page(&fields.concat()), true).await;
    assert_floods(page(&format!(r#","deep":{{"list":[{commas}0]}}"#)), true).await;
    // Brackets and commas in a string are not elements.
    assert_floods(
        page(&format!(r#","note":"{}""#, "[,{".repeat(1_001))),
        false,
    )
    .await;
}

#[tokio::test]
async fn fault_52_a_page_of_millions_of_small_elements_is_an_error() {
    let page = |count: usize| {
        let items = "{},".repeat(count - 1);
        format!(r#"{{"items":[{items}{{}}],"nextCursor":null}}"#)
    };
    assert_floods(page(1_001), true).await;
    assert_floods(page(900), false).await;
    // The default limit applies too, within the byte limit of a response.
    let peer = Peer::start([reply(200).body(page(5_000_000))]);
    let error = crm_at(&peer).people().list().await.unwrap_err();
    assert_says(&error, &["`max_response_elements`"]);
    assert_eq!(peer.requests().len(), 1);
}
