//! Rows 1, 2, 3 and 35: the token endpoint fails, refuses, or reads credentials strictly.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use futures_util::future::{join_all, ready};
use sdk_core::{ClientAuthentication, ClientCredentials, Effect, ErrorKind};
use sdk_core::{TokenError, TokenErrorKind};
use sdk_reference_server::{ClientSpec, Operation};
use tokio::time::{Instant, advance};

use crate::fixtures::{get_person, in_memory, server};
use crate::peer::reply;
use crate::seams::transport::service::{Answer, Scripted};
use crate::support::{
    Clients, Events, assert_failed, assert_says, assert_tried, builder_for, until,
};

#[tokio::test(start_paused = true)]
async fn fault_01_a_failing_token_endpoint_goes_unnoticed_while_the_token_lives() {
    let (events, _guard) = Events::here();
    let (server, builder) = in_memory();
    let crm = builder.crm();
    crm.people().list().await.unwrap();
    server.fault(Operation::ExchangeToken).status(500);

    // Due for renewal since 240 s at the latest, alive until 300 s.
    advance(Duration::from_secs(250)).await;
    assert_eq!(crm.people().list().await.unwrap().attempts(), 1);
    until(|| !events.lines("WARN", &[]).is_empty()).await;
    for _ in 0..20 {
        assert_eq!(crm.people().list().await.unwrap().attempts(), 1);
    }

    // One renewal of three attempts, one warning, and then quiet.
    assert_eq!(server.attempts(Operation::ExchangeToken), 1 + 3);
    let warnings = events.lines("WARN", &[]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let parts = [
        "token renewal failed",
        "live_token=true",
        "next_attempt_in_s=0.",
    ];
    assert_says(&warnings[0], &parts);

    // To the last second, the token is used, no call waits, and the renewals get rarer.
    let start = Instant::now();
    for _ in 0..98 {
        advance(Duration::from_millis(500)).await;
        assert_eq!(crm.people().list().await.unwrap().attempts(), 1);
    }
    assert_eq!(start.elapsed(), Duration::from_secs(49));
    let renewals = events.lines("WARN", &[]).len();
    assert!((4..=8).contains(&renewals), "{renewals} renewals");
}

#[tokio::test(start_paused = true)]
async fn fault_02_without_a_token_all_callers_share_one_error_until_the_backoff_is_over() {
    let (server, builder) = in_memory();
    let crm = builder.crm();
    crm.people().list().await.unwrap();
    advance(Duration::from_secs(301)).await;
    server.fault(Operation::ExchangeToken).times(3).status(500);

    let calls = join_all((0..50).map(|_| crm.people().list().send())).await;

    for call in calls {
        let error = call.unwrap_err();
        assert_tried(&error, ErrorKind::TokenUnavailable, Effect::NotSent, 0);
        assert!(error.is_retryable());
        let cause: &TokenError = error.source().unwrap().downcast_ref().unwrap();
        assert_eq!(cause.kind(), TokenErrorKind::Unavailable);
        assert_eq!(cause.status(), Some(500));
    }
    assert_eq!(server.attempts(Operation::ExchangeToken), 1 + 3);
    assert_eq!(server.attempts(Operation::ListPeople), 1);

    // Nothing goes out within the backoff; after it the next call recovers.
    crm.people().list().await.unwrap_err();
    assert_eq!(server.attempts(Operation::ExchangeToken), 1 + 3);
    advance(Duration::from_secs(2)).await;
    crm.people().list().await.unwrap();
    assert_eq!(server.exchanges(), 2);
}

#[tokio::test(start_paused = true)]
async fn fault_03_refused_credentials_are_not_tried_again_within_the_backoff() {
    let (server, builder) = in_memory();
    let wrong = ClientCredentials::new(server.client_id(), "wrong");
    let crm = builder.credentials(wrong).crm();

    for _ in 0..100 {
        let error = crm.people().list().await.unwrap_err();
        assert_failed(&error, ErrorKind::Unauthenticated, Effect::NotSent);
        assert_eq!(error.code(), Some("invalid_client"));
        assert_eq!((error.is_retryable(), error.attempts()), (false, 0));
        assert!(error.request_id().is_some());
        let says = "crm.listPeople: not authenticated invalid_client: ";
        assert!(error.to_string().starts_with(says), "{error}");
    }

    assert_eq!(server.attempts(Operation::ExchangeToken), 1);
    advance(Duration::from_secs(2)).await;
    crm.people().list().await.unwrap_err();
    assert_eq!(server.attempts(Operation::ExchangeToken), 2);
    for _ in 0..600 {
        advance(Duration::from_secs(1)).await;
        crm.people().list().await.unwrap_err();
    }
    // After 1, 2, 4, 8 and 16 s, then every 30 s, each up to half sooner.
    let attempts = server.attempts(Operation::ExchangeToken);
    assert!((20..=45).contains(&attempts), "{attempts} attempts");
    assert_eq!(server.attempts(Operation::ListPeople), 0);
}

#[tokio::test]
async fn fault_35_any_id_and_secret_pass_a_strict_server() {
    let pairs = [
        ("we:ird", "p%25 +%zz"),
        ("a b+c%20", "::"),
        ("ünï-cødé ☃", "sëcret & more=less"),
        ("tab\tand\"quote", "~!*'()"),
    ];
    let server = server().await;
    for (id, secret) in pairs {
        server.add_client(ClientSpec::new(id, secret));
        for method in [
            ClientAuthentication::Basic,
            ClientAuthentication::RequestBody,
        ] {
            let credentials = ClientCredentials::new(id, secret).with_authentication(method);
            let crm = builder_for(&server).credentials(credentials).crm();

            let page = crm.people().list().await;

            assert!(page.is_ok(), "{id} {method:?}: {:?}", page.err());
        }
    }
    assert_eq!(server.exchanges(), 2 * pairs.len() as u64);
}

#[tokio::test]
async fn a_failed_exchange_is_of_the_kind_of_its_failure() {
    type Failure = fn() -> Answer;
    let cases: [(Failure, TokenErrorKind); 5] = [
        (|| Ok(reply(199).in_memory()), TokenErrorKind::Malformed),
        (|| Ok(reply(499).in_memory()), TokenErrorKind::Refused),
        (|| Ok(reply(599).in_memory()), TokenErrorKind::Unavailable),
        (
            || Err(io::ErrorKind::TimedOut.into()),
            TokenErrorKind::Timeout,
        ),
        (
            || Err(io::ErrorKind::ConnectionReset.into()),
            TokenErrorKind::Unreachable,
        ),
    ];
    for (answer, kind) in cases {
        let service = Scripted::new(move |_| ready(answer())).without_tokens();
        let suite = service.suite().build().unwrap();
        let error = get_person(&suite.crm()).await.unwrap_err();
        let cause: &TokenError = error.source().unwrap().downcast_ref().unwrap();
        assert_eq!(cause.kind(), kind, "{error}");
        assert_eq!(suite.stats().token_exchanges, 1);
    }
}
