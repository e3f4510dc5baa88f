//! Row 41: warnings, truncated strings, and tokens that are no longer in use.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::future::ready;
use sdk_core::{AccessToken, Effect, ErrorKind, SchemaPolicy, TokenError, TokenRequest};
use serde_json::{Value, json};

use super::forms::{ALL, TOKEN, assert_nothing_leaks};
use super::{confidential, print_error, suite_of, with_token};
use crate::fixtures::{Tokens, created, get_person};
use crate::peer::{Peer, json as reply_of, reply, script, token};
use crate::support::{Clients, Events, assert_failed, assert_says};

#[tokio::test]
async fn fault_41_a_string_is_searched_before_it_is_truncated() {
    for before in [0, 280, 290, 295, 299, 4_090] {
        for secret in ALL {
            let (events, _guard) = Events::here();
            let text = format!("{}{secret}", "v ".repeat(before / 2));
            let mut result: Value = serde_json::from_slice(created().text()).unwrap();
            result["schemaVersion"] = json!(text);
            result["outcome"] = json!(text);
            let refused = json!({"code": text, "message": text, "requestId": text});
            let results = [201, 201].map(|status| reply_of(status, &result));
            let steps = results.into_iter().chain([reply_of(409, &refused)]);
            let peer = Peer::start(with_token(script(steps)));
            let calendar = suite_of(&peer).calendar();
            let call = || confidential(&calendar);

            let other = call().await.unwrap_err();
            let receipt = call().schema_policy(SchemaPolicy::Warn).await.unwrap();
            let conflict = call().await.unwrap_err();

            assert_eq!(receipt.outcome, text, "the caller gets the value unchanged");
            assert_failed(&other, ErrorKind::SchemaVersion, Effect::Unknown);
            let printed = print_error(&other) + &print_error(&conflict) + &events.text();
            assert_nothing_leaks(&printed, &text);
            let begin: String = secret.chars().take(4).collect();
            assert!(!printed.contains(&format!("v {begin}")), "{printed}");
            // The printed line ends before this position anyway.
            if before < 300 {
                assert_says(&other, &["[redacted"]);
                assert_eq!(conflict.code(), Some("[redacted]"));
                for warning in [
                    "unexpected schema version",
                    "a constant has an unexpected value",
                ] {
                    let warned = events.lines("WARN", &[warning, "[redacted"]);
                    assert_eq!(warned.len(), 1, "{text}: {}", events.text());
                }
            }
        }
    }
}

/// A replaced token, which a token endpoint and an application may still know.
const OLD: &str = "qJ7wZ-0ldVx3kT9mR2pL8-Yb5nH1";

#[tokio::test]
async fn fault_41_a_replaced_token_is_not_printed() {
    let echo = json!({"code": OLD, "message": format!("not {OLD}"), "requestId": OLD});
    let refusal = json!({"error": OLD, "error_description": format!("not {OLD}")});
    let asked = AtomicU32::new(0);
    let source = Tokens(move |_: &TokenRequest| {
        ready(match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(AccessToken::new(OLD)),
            1 => Ok(AccessToken::new(TOKEN)),
            _ => Err(TokenError::refused(OLD, format!("not {OLD}")).with_request_id(OLD)),
        })
    });
    let mut source = Some(source);
    for by_endpoint in [true, false] {
        let (events, _guard) = Events::here();
        let steps = [
            reply(401),
            reply_of(403, &echo).header("x-got", OLD),
            reply_of(200, &json!({"schemaVersion": OLD, "items": []})),
            reply(401),
        ];
        let tokens = [token(OLD), token(TOKEN), reply_of(400, &refusal)];
        let peer = Peer::start(script(steps).tokens(tokens));
        let mut suite = suite_of(&peer);
        if !by_endpoint {
            suite = suite.token_source(source.take().unwrap());
        }
        let crm = suite.crm();

        let forbidden = get_person(&crm).await.unwrap_err();
        let odd = crm.opportunities().list().await.unwrap_err();
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
        let bearers: Vec<_> = peer
            .requests()
            .iter()
            .map(|it| it.bearer().map(str::to_owned))
            .collect();
        assert_eq!(
            bearers[..3],
            [OLD, TOKEN, TOKEN].map(|it| Some(it.to_owned()))
        );
    }
}
