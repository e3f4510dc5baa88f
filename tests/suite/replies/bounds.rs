//! Row 30: replies that are too much.

use sdk_core::{Effect, ErrorKind};

use crate::fixtures::{get_person, person};
use crate::peer::{Client, Over, Peer, Protocol, always, endless, gzip_bomb, over_all, reply};
use crate::support::{Clients, assert_failed, assert_says, builder_to, crm_at};

over_all! {
    fault_30_a_body_is_read_up_to_the_limit
    fault_30_an_error_page_without_an_end_is_still_its_status
    fault_30_an_endless_401_still_renews_the_token
    fault_30_a_token_response_is_read_up_to_its_limit
    fault_30_headers_are_bounded_too
}

/// What a reply may have here.
const LIMIT: usize = 1024 * 1024;

/// What may be on its way when the connection is closed: the buffers of both sockets.
const BUFFERED: usize = 32 * 1024 * 1024;

const GIGABYTE: u64 = 1024 * 1024 * 1024;

/// Reads a person with the limit set.
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
        let said = if is_packed {
            "compressed (gzip)"
        } else {
            "larger than 1048576 bytes"
        };
        assert_says(&error.message(), &[said]);
        // Of a body that is announced as too large, nothing is read.
        let kept = error.body().unwrap_or_default().len();
        assert!(kept <= if name == "announced" { 0 } else { 1024 }, "{kept}");
        peer.has_open(0).await;
        assert!(peer.written() < BUFFERED, "{name}: {}", peer.written());
        let seen = peer.requests();
        assert_eq!(seen.len(), 1, "{name}");
        let packed = (over.client == Client::Reqwest).then_some("gzip");
        assert_eq!(seen[0].header("accept-encoding"), packed);
    }
}

async fn fault_30_an_error_page_without_an_end_is_still_its_status(over: Over) {
    for (status, kind, attempts) in [
        (503, ErrorKind::Unavailable, 3),
        (404, ErrorKind::NotFound, 1),
    ] {
        for step in [
            endless(None),
            endless(Some(GIGABYTE)),
            reply(status).body("<html>").cut_at(3),
        ] {
            let peer = over.start(always(step.with_status(status)));

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
            "token refused (status 400)",
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
        let said = match over.protocol {
            Protocol::Http1 => "too large",
            Protocol::Http2 => "connection error detected",
        };
        assert_says(&error.message(), &[said]);
        peer.has_open(0).await;
    }
}
