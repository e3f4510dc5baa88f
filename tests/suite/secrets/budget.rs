//! Rows 80 and 90: a server's string is printed on one short line, and a long search for secrets ends.

use std::time::{Duration, Instant};

use sdk_core::{Error, ErrorKind};
use sdk_platform::types::TokenForm;
use serde_json::json;

use super::forms::SECRET;
use super::{endpoint_of, suite_of};
use crate::fixtures::get_person;
use crate::peer::{Peer, Step, always, json as reply_of};
use crate::support::{Clients, Events};

/// Returns whether a character changes how a terminal or a log displays other characters.
fn odd(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn assert_shown_well(error: &Error) {
    for text in [
        error.to_string(),
        format!("{error:?}"),
        format!("{error:#?}").replace('\n', " "),
        error.message().to_owned(),
        error.code().unwrap_or_default().to_owned(),
        error.request_id().unwrap_or_default().to_owned(),
    ] {
        assert!(text.len() < 4_000 && !text.contains(odd), "{text:.300}");
    }
}

#[tokio::test]
async fn fault_80_a_servers_string_is_one_bounded_line_wherever_it_is_printed() {
    let (events, _guard) = Events::here();
    let odd_text =
        "first\nsecond\r\u{1b}[2J\u{9b}31m\u{202e}lru\u{200b}\u{feff}\u{2066}\u{e0041}\u{2028}end ";
    let evil = odd_text.to_owned() + &"x".repeat(10_000);
    let scopes = json!({"access_token": "t-80", "scope": evil, "expires_in": 300});
    let version = json!({"schemaVersion": evil, "items": [], "nextCursor": null});
    let envelope = json!({"error": {"code": evil, "message": evil, "requestId": evil}});
    for step in [
        reply_of(403, &envelope),
        reply_of(409, &json!({"code": evil})),
        reply_of(200, &version),
    ] {
        let peer = Peer::start(always(step).tokens_always(reply_of(200, &scopes)));
        let crm = suite_of(&peer).crm();
        assert_shown_well(&crm.opportunities().list().await.unwrap_err());
    }
    let refused = json!({"error": evil, "error_description": evil});
    let peer = endpoint_of(reply_of(400, &refused));
    let crm = suite_of(&peer).crm();
    assert_shown_well(&get_person(&crm).await.unwrap_err());
    for line in events.text().lines() {
        assert!(line.len() < 6_000 && !line.contains(odd), "{line:.200}");
    }
}

/// Returns an error response with `secrets` secrets, next to strings that resemble them.
fn refusal(secrets: usize, secret: impl Fn(usize) -> String) -> Step {
    let mut body = json!({"error": "invalid_client", "message": "abababa~".repeat(512)});
    for field in 0..secrets {
        body[format!("token{field}")] = json!(secret(field));
    }
    let step = reply_of(400, &body).header("x-long", "a ".repeat(4_000));
    (0..20).fold(step, |step, at| {
        step.header(&format!("x-echo-{at}"), "abababa~".repeat(100))
    })
}

#[tokio::test]
async fn fault_90_a_response_made_to_slow_down_redaction_respects_the_deadline() {
    let alike = |_| "ab".repeat(3_000);
    let number = |field, at| format!("{:010}", (field * 600 + at) * 7_919);
    let unlike = |field| (0..600).map(|at| number(field, at)).collect();
    // The message has letters of a secret, but never 12 of them in a row. With too many secrets, the whole string is
    // redacted.
    for (refusal, shown) in [
        (refusal(32, alike), "abababa~"),
        (refusal(32, unlike), "abababa~"),
        (refusal(100, |at| format!("a-secret-{at}")), "[redacted"),
    ] {
        let peer = endpoint_of(refusal);
        // The search once took more than a minute. Now it is fast, so this limit is ample on a busy machine.
        let limit = Duration::from_secs(20);
        let platform = suite_of(&peer).deadline(limit).platform();
        let form = TokenForm::new().client_secret(SECRET);
        let started = Instant::now();

        let error = platform.oauth().token(&form).await.unwrap_err();

        assert!(started.elapsed() < limit);
        assert_eq!(error.kind(), ErrorKind::Rejected);
        assert!(error.message().starts_with(shown), "{error}");
        // This string exceeds the budget.
        let long = error.headers().unwrap().get("x-long");
        assert!(long.is_none_or(|it| it == "[redacted]"), "{error:?}");
    }
}
