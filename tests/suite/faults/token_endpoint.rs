//! Rows 1, 2, 3 and 35: the token endpoint fails, rejects a client, or decodes credentials strictly.

use std::error::Error as _;
use std::time::Duration;

use futures_util::future::join_all;
use sdk_core::ClientAuthentication::{Basic, RequestBody};
use sdk_core::{
    App, Backoff, ClientCredentials, ErrorKind, Suite, TokenError, TokenErrorKind, TokenPolicy,
};
use sdk_reference_server::{ClientSpec, Operation};
use serde_json::json;
use tokio::time::{Instant, advance};

use crate::fixtures::{get_person, in_memory};
use crate::peer::{Peer, Script, always, json, reply, script};
use crate::support::{
    Clients, Events, assert_says, assert_unsent, builder_to, quick_tokens_with, until,
};

const SECOND: Duration = Duration::from_secs(1);

/// Returns a policy with renewals in the last fifth of a lifetime, three attempts, and a backoff from 1 s to 30 s.
fn policy() -> TokenPolicy {
    quick_tokens_with(|it| {
        (it.soft_fraction, it.soft_jitter) = (0.2, 0.0);
        it.attempts = 3;
        it.renewal_backoff = Backoff::new(SECOND, 30 * SECOND);
    })
}

#[tokio::test(start_paused = true)]
async fn fault_01_a_failing_token_endpoint_affects_no_call_while_the_token_is_live() {
    let (events, _guard) = Events::here();
    let (server, builder) = in_memory();
    let crm = builder.token_policy(policy()).crm();
    crm.people().list().await.unwrap();
    server.fault(Operation::ExchangeToken).status(500);

    // The token has been due for renewal since 240 s, and lives until 300 s.
    advance(250 * SECOND).await;
    assert_eq!(crm.people().list().await.unwrap().attempts(), 1);
    until(|| !events.lines("WARN", &[]).is_empty()).await;
    for _ in 0..20 {
        assert_eq!(crm.people().list().await.unwrap().attempts(), 1);
    }

    // One renewal with three attempts and one warning, and no further renewal during the backoff.
    assert_eq!(server.attempts(Operation::ExchangeToken), 1 + 3);
    let warnings = events.lines("WARN", &[]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let parts = [
        "token renewal failed",
        "live_token=true",
        "next_attempt_in_s=0.",
    ];
    assert_says(&warnings[0], &parts);

    // The token is used until its last second, no call waits, and renewals become rarer.
    let start = Instant::now();
    for _ in 0..98 {
        advance(SECOND / 2).await;
        assert_eq!(crm.people().list().await.unwrap().attempts(), 1);
    }
    assert_eq!(start.elapsed(), 49 * SECOND);
    let renewals = events.lines("WARN", &[]).len();
    assert!((4..=8).contains(&renewals), "{renewals} renewals");
}

#[tokio::test(start_paused = true)]
async fn fault_02_without_a_token_all_callers_share_one_error_until_the_backoff_is_over() {
    let (server, builder) = in_memory();
    let crm = builder.token_policy(policy()).crm();
    crm.people().list().await.unwrap();
    advance(301 * SECOND).await;
    server.fault(Operation::ExchangeToken).times(3).status(500);

    let calls = join_all((0..50).map(|_| crm.people().list().send())).await;

    for call in calls {
        let error = call.unwrap_err();
        assert_unsent(&error, ErrorKind::TokenUnavailable, &[]);
        assert!(error.is_retryable());
        let cause: &TokenError = error.source().unwrap().downcast_ref().unwrap();
        assert_eq!(cause.kind(), TokenErrorKind::Unavailable);
        assert_eq!(cause.status(), Some(500));
    }
    assert_eq!(server.attempts(Operation::ExchangeToken), 1 + 3);
    assert_eq!(server.attempts(Operation::ListPeople), 1);

    // Nothing is sent during the backoff. The first call after it succeeds.
    crm.people().list().await.unwrap_err();
    assert_eq!(server.attempts(Operation::ExchangeToken), 1 + 3);
    advance(2 * SECOND).await;
    crm.people().list().await.unwrap();
    assert_eq!(server.exchanges(), 2);
}

#[tokio::test(start_paused = true)]
async fn fault_03_rejected_credentials_are_not_retried_within_the_backoff() {
    let (server, builder) = in_memory();
    let wrong = ClientCredentials::new(server.client_id(), "wrong");
    let crm = builder.credentials(wrong).token_policy(policy()).crm();

    for _ in 0..100 {
        let error = crm.people().list().await.unwrap_err();
        assert_unsent(&error, ErrorKind::Unauthenticated, &[]);
        assert_eq!(error.code(), Some("invalid_client"));
        assert!(!error.is_retryable() && error.request_id().is_some());
        let says = "crm.listPeople: not authenticated invalid_client: ";
        assert!(error.to_string().starts_with(says), "{error}");
    }

    assert_eq!(server.attempts(Operation::ExchangeToken), 1);
    for _ in 0..600 {
        advance(SECOND).await;
        crm.people().list().await.unwrap_err();
    }
    // Attempts after 1, 2, 4, 8 and 16 s, then every 30 s, each up to half earlier.
    let attempts = server.attempts(Operation::ExchangeToken);
    assert!((20..=45).contains(&attempts), "{attempts} attempts");
    assert_eq!(server.attempts(Operation::ListPeople), 0);
}

#[tokio::test]
async fn fault_35_a_strict_server_accepts_any_id_and_secret() {
    for (id, secret) in [
        ("we:ird", "p%25 +%zz"),
        ("a b+c%20", "::"),
        ("ünï-cødé ☃", "sëcret & more=less"),
        ("tab\tand\"quote", "~!*'()"),
    ] {
        for method in [Basic, RequestBody] {
            let (server, builder) = in_memory();
            server.add_client(ClientSpec::new(id, secret));
            let credentials = ClientCredentials::new(id, secret).with_authentication(method);

            let page = builder.credentials(credentials).crm().people().list().await;

            assert!(page.is_ok(), "{id} {method:?}: {:?}", page.err());
            assert_eq!(server.exchanges(), 1);
        }
    }
}

#[tokio::test]
async fn a_token_rejected_for_its_audience_names_the_audience_and_its_setting() {
    let refused =
        |code: &str| -> Script { script([]).tokens_always(json(400, &json!({"error": code}))) };
    for (script, blames_audience) in [
        (refused("invalid_target"), true),
        (always(reply(401)), true),
        (refused("invalid_client"), false),
        (refused("invalid_scope"), false),
    ] {
        let peer = Peer::start(script);
        let by_default = Suite::builder()
            .application_url(App::Crm, peer.url())
            .token_url(format!("{}/oauth/token", peer.url()))
            .credentials(ClientCredentials::new("client", "secret"));
        let origin = format!(
            "the token is for the audience {}, the origin of the application; if that is wrong, set SUITE_CRM_AUDIENCE",
            peer.url()
        );
        let set = "the token is for the audience crm, set by `audience(App::Crm, …)`";
        for (builder, phrase) in [(builder_to(&peer), set), (by_default, &*origin)] {
            let error = get_person(&builder.crm()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
            let line = error.to_string();
            assert_eq!(line.contains("audience"), blames_audience, "{line}");
            assert_eq!(line.contains(phrase), blames_audience, "{line}");
        }
    }
}
