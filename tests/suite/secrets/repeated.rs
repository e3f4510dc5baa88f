//! Row 41: places beside a call's own error where a server's text gets to people: warnings, reports, walks, stored commands,
//! and tokens that are no longer in use.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::future::ready;
use sdk_core::{
    AccessToken, CallOptions, ClientCredentials, Effect, Error, ErrorKind, Method, SchemaPolicy,
    SuiteBuilder, TokenError, TokenRequest,
};
use serde_json::{Value, json};

use super::hostile::{
    HEADER, KEY, QUERY, SECRET, TOKEN, assert_nothing_leaks, confidential, suite_of,
};
use super::print_error;
use crate::fixtures::{Tokens, created, get_person, person};
use crate::peer::{Peer, Step, always, json as reply_of, reply, script, token};
use crate::support::{Clients, Events, assert_failed, assert_says, key, stored};
use crate::walks::page;

const ALL: [&str; 5] = [SECRET, TOKEN, KEY, HEADER, QUERY];

fn peer_of(step: Step) -> Peer {
    Peer::start(always(step).tokens_always(token(TOKEN)))
}

fn builder_of(peer: &Peer) -> SuiteBuilder {
    suite_of(peer).credentials(ClientCredentials::new("client", SECRET))
}

/// Header and query that every call of a client has.
fn with_both() -> CallOptions {
    CallOptions::default()
        .with_header("x-tenant", HEADER)
        .with_query("tenant", QUERY)
}

fn assert_redacted(error: &Error, about: &str) {
    assert!(error.to_string().contains("[redacted"), "{about}: {error}");
    assert_nothing_leaks(&print_error(error), about);
}

#[tokio::test]
async fn fault_41_warnings_do_not_repeat_what_a_server_repeats() {
    for secret in ALL {
        let (events, _guard) = Events::here();
        let said = format!("about {secret}!");
        let mut result: Value = serde_json::from_slice(created().text()).unwrap();
        result["schemaVersion"] = json!(said);
        result["outcome"] = json!(said);
        let peer = peer_of(reply_of(201, &result));
        let calendar = builder_of(&peer)
            .schema_policy(SchemaPolicy::Warn)
            .calendar();

        let receipt = confidential(&calendar).await.unwrap();

        assert_eq!(receipt.outcome, said, "the caller gets it as it came");
        assert_eq!(peer.requests()[0].key(), Some(KEY));
        for what in [
            "unexpected schema version",
            "a constant has an unexpected value",
        ] {
            let warned = events.lines("WARN", &[what, "[redacted"]);
            assert_eq!(warned.len(), 1, "{secret}: {}", events.text());
        }
        assert_nothing_leaks(&events.text(), secret);
    }
}

#[tokio::test]
async fn fault_41_a_report_on_the_contract_does_not_repeat_what_a_server_repeats() {
    for secret in [SECRET, TOKEN, HEADER, QUERY] {
        let metadata = json!({
            "schemaVersion": secret, "service": secret, "version": secret, "status": secret, secret: 1,
        });
        let peer = peer_of(reply_of(200, &metadata));
        let suite = builder_of(&peer).suite();
        let crm = suite.crm().with_defaults(with_both());
        let accounting = suite.accounting().with_defaults(with_both());
        crm.prewarm().await.unwrap();

        for report in [
            crm.check_contract().await.unwrap(),
            accounting.check_contract().await.unwrap(),
        ] {
            assert_says(&report, &["[redacted"]);
            assert!(report.status.as_deref().unwrap().starts_with("[redacted"));
            assert_nothing_leaks(&report.to_string(), report.application.name());
            let came = report.metadata.unwrap();
            assert!(came.as_str().contains(&json!(secret).to_string()));
        }
        assert_eq!(peer.requests().len(), 2);
        assert_eq!(peer.requests()[0].header("x-tenant"), Some(HEADER));
    }
}

#[tokio::test]
async fn fault_41_errors_of_walks_do_not_repeat_what_a_server_repeats() {
    for secret in [SECRET, TOKEN, HEADER, QUERY] {
        let said = format!("about {secret}!");
        let begin: String = secret.chars().take(5).collect();
        // The list of names is cut within the secret, or the line that is made of it.
        let long = |before| format!("{}{secret}", "n".repeat(before));
        let alone = |name: String| json!({"nextCursor": null, name: 1});
        let items = |items: Value| json!({"nextCursor": null, "items": items});
        let unlike = [
            (alone(said.clone()), ErrorKind::Pagination),
            (alone(long(215)), ErrorKind::Pagination),
            (alone(long(267)), ErrorKind::Pagination),
            (items(json!([secret])), ErrorKind::Decode),
            (items(json!(secret)), ErrorKind::Decode),
            (json!({said: 1}), ErrorKind::Decode),
        ];
        for (body, kind) in unlike {
            let peer = peer_of(reply_of(200, &body).header("x-request-id", secret));
            let crm = builder_of(&peer).crm();
            let list = crm.people().list().header("x-tenant", HEADER);
            let mut walk = list.query("tenant", QUERY).items();

            let error = walk.try_next().await.unwrap_err();

            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.request_id(), Some("[redacted]"));
            assert_redacted(&error, &body.to_string());
            let printed = format!("{}\n{}", error.message(), print_error(&error));
            assert!(!printed.contains(&begin), "{printed}");
            assert_eq!(peer.requests()[0].header("x-tenant"), Some(HEADER));
        }

        // A cursor that comes again, and goes out as it came.
        let again = page(&["a"], secret);
        let peer = Peer::start(script([again.clone(), again]).tokens_always(token(TOKEN)));
        let crm = builder_of(&peer).crm();
        let list = crm.people().list().header("x-tenant", HEADER);
        let mut walk = list.query("tenant", QUERY).items();
        for _ in 0..2 {
            walk.try_next().await.unwrap();
        }
        let error = walk.try_next().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert_nothing_leaks(&print_error(&error), secret);
        assert_eq!(peer.requests().len(), 2);
    }
}

#[tokio::test]
async fn fault_41_an_error_of_a_stored_command_does_not_repeat_its_query() {
    for secret in [KEY, HEADER, QUERY] {
        let said = format!("about {secret}!");
        let refused = json!({"code": said, "message": said, "requestId": said});
        for step in [
            reply_of(409, &refused).header("x-got", secret),
            reply(200).body(said),
        ] {
            let peer = peer_of(step);
            let calendar = builder_of(&peer).calendar();
            let call = calendar.raw_call((Method::Post, "/api/calendar/v1/notes"));
            let call = call.body(json!({"note": 1})).idempotency_key(key(KEY));
            let call = call.header("x-tenant", HEADER).query("tenant", QUERY);
            let command = stored(&call.prepare().unwrap());

            // Whoever sends it knows nothing of it but what was stored.
            let calendar = builder_of(&peer).calendar();
            let call = calendar.send_prepared(&command).allow_raw_path();
            let error = call.await.unwrap_err();

            assert_redacted(&error, secret);
            let headers = error.headers().unwrap();
            assert!(headers.get("x-got").is_none_or(|it| it == "[redacted]"));
            let seen = &peer.requests()[0];
            assert_eq!(seen.key(), Some(KEY));
            assert!(seen.target.contains("tenant="), "{}", seen.target);
        }
    }
}

/// What a token endpoint and an application may still know of.
const OLD: &str = "qJ7wZ-0ldVx3kT9mR2pL8-Yb5nH1";

#[tokio::test]
async fn fault_41_a_token_that_was_replaced_is_not_repeated() {
    let (events, _guard) = Events::here();
    let echo = json!({"code": OLD, "message": format!("not {OLD}"), "requestId": OLD});
    let refusal = json!({"error": OLD, "error_description": format!("not {OLD}")});
    let tokens = [token(OLD), token(TOKEN), reply_of(400, &refusal)];
    let steps = [
        reply(401),
        reply_of(403, &echo).header("x-got", OLD),
        reply_of(200, &json!({"schemaVersion": OLD, "items": []})),
        reply(401),
    ];
    let peer = Peer::start(script(steps).tokens(tokens));
    let crm = builder_of(&peer).crm();

    let forbidden = get_person(&crm).await.unwrap_err();
    let odd = crm.opportunities().list().await.unwrap_err();
    // Here the token endpoint repeats the one it gave first.
    let lost = get_person(&crm).await.unwrap_err();

    assert_eq!(forbidden.kind(), ErrorKind::Forbidden);
    assert_eq!(forbidden.code(), Some("[redacted]"));
    assert_eq!(forbidden.headers().unwrap()["x-got"], "[redacted]");
    assert_eq!(odd.kind(), ErrorKind::SchemaVersion);
    assert_eq!(lost.kind(), ErrorKind::Unauthenticated);
    let mut printed = events.text();
    for error in [forbidden, odd, lost] {
        assert_says(&error, &["[redacted"]);
        printed += &print_error(&error);
    }
    assert!(!printed.contains(&OLD[..8]), "{printed}");
    let seen = peer.requests();
    let bearers: Vec<_> = seen.iter().map(|seen| seen.bearer()).collect();
    assert_eq!(bearers[..3], [Some(OLD), Some(TOKEN), Some(TOKEN)]);
    assert_eq!(peer.exchanges().len(), 3);
}

#[tokio::test]
async fn fault_41_a_source_that_quotes_a_token_it_gave_is_not_repeated() {
    let (events, _guard) = Events::here();
    let peer = Peer::start([reply(401), person(), reply(401)]);
    let asked = AtomicU32::new(0);
    let forgetful = Tokens(move |_: &TokenRequest| {
        ready(match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(AccessToken::new(OLD)),
            1 => Ok(AccessToken::new(TOKEN)),
            _ => Err(TokenError::refused(OLD, format!("not {OLD}")).with_request_id(OLD)),
        })
    });
    let crm = suite_of(&peer).token_source(forgetful).crm();

    assert_eq!(get_person(&crm).await.unwrap().attempts(), 2);
    let error = get_person(&crm).await.unwrap_err();

    assert_says(&error, &["[redacted"]);
    let printed = print_error(&error) + &events.text();
    assert!(!printed.contains(&OLD[..8]), "{printed}");
    assert_eq!(peer.requests()[1].bearer(), Some(TOKEN));
}

#[tokio::test]
async fn fault_41_a_long_text_is_looked_at_before_it_is_cut() {
    for before in [280, 290, 295, 299, 4_090] {
        for secret in ALL {
            let (events, _guard) = Events::here();
            let version = format!("{}{secret}", "v ".repeat(before / 2));
            let mut result: Value = serde_json::from_slice(created().text()).unwrap();
            result["schemaVersion"] = json!(version);
            let refused = json!({"code": version, "message": version, "requestId": version});
            let steps = [
                reply_of(201, &result),
                reply_of(201, &result),
                reply_of(409, &refused),
            ];
            let peer = Peer::start(script(steps).tokens_always(token(TOKEN)));
            let calendar = builder_of(&peer).calendar();
            let call = || confidential(&calendar);

            let other = call().await.unwrap_err();
            call().schema_policy(SchemaPolicy::Warn).await.unwrap();
            let conflict = call().await.unwrap_err();

            assert_failed(&other, ErrorKind::SchemaVersion, Effect::Unknown);
            assert_eq!(other.status(), Some(201));
            let printed = print_error(&other) + &print_error(&conflict) + &events.text();
            assert_nothing_leaks(&printed, &version);
            let begin: String = secret.chars().take(4).collect();
            let begin = format!("v {begin}");
            assert!(!printed.contains(&begin), "{before}: {printed}");
            if before < 300 {
                assert!(other.message().contains("[redacted"), "{other}");
                assert_eq!(conflict.code(), Some("[redacted]"));
            }
        }
    }
}

#[tokio::test]
async fn fault_41_the_request_id_of_the_token_endpoint_repeats_no_credential() {
    let in_header = reply_of(400, &json!({"error": "invalid_client"}));
    let in_body = json!({"error": {"code": "invalid_client", "requestId": SECRET}});
    for step in [
        in_header.clone().header("x-request-id", SECRET),
        in_header.header("x-request-id", format!("id {}", &SECRET[..12])),
        reply_of(400, &in_body),
    ] {
        let (events, _guard) = Events::here();
        let peer = Peer::start(script([]).tokens_always(step));
        let crm = builder_of(&peer).crm();

        let error = get_person(&crm).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
        assert_eq!(error.code(), Some("invalid_client"));
        let id = error.request_id().unwrap();
        assert!(id.starts_with("[redacted"), "{error}");
        let printed = print_error(&error) + &events.text();
        assert_nothing_leaks(&printed, "request id");
        assert!(!printed.contains(&SECRET[..12]), "{printed}");
        assert!(peer.requests().is_empty());
    }
}

#[tokio::test]
async fn fault_41_what_takes_too_long_to_search_is_not_shown() {
    let step = reply_of(404, &json!({})).header("x-short", "a a");
    let peer = peer_of(step.header("x-long", "a ".repeat(4_000)));
    let found = get_person(&builder_of(&peer).crm()).await.unwrap_err();
    let headers = found.headers().unwrap();
    assert_eq!(headers["x-long"], "[redacted]");
    assert_eq!(headers["x-short"], "a a");

    for (secrets, code) in [(3, "invalid_client"), (100, "[redacted]")] {
        let mut body = json!({"error": "invalid_client"});
        for at in 0..secrets {
            body[format!("token{at}")] = json!(format!("a-secret-{at}"));
        }
        let peer = Peer::start(script([]).tokens_always(reply_of(400, &body)));
        let platform = builder_of(&peer).platform();
        let exchange = platform.raw_call(&sdk_platform::operations::EXCHANGE_TOKEN);
        let error = exchange.body(json!({})).await.unwrap_err();
        assert_eq!(error.code(), Some(code), "{error}");
    }
}
