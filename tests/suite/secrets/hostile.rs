//! Rows 41 and 81: servers that repeat what they were told in confidence, in every form and place.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sdk_core::{CallOptions, ClientCredentials, RetryPolicy};
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use super::print_error;
use crate::peer::{Peer, Step, always, json as reply_of, reply, script};
use crate::samples::kick_off;
use crate::support::{Clients, Events, builder_at, key, quick_tokens_with};

/// What must not be shown. No piece of it is an English word, or stands in one.
pub(super) const SECRET: &str = "Zx9q+Wv7/kT3=pL5 mQ1%rB8";
pub(super) const TOKEN: &str = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ6cTl4d3Y3In0.Hk4Jq8sWm2Xv6Tz1";
pub(super) const KEY: &str = "qzx-7Jk2-vW9p-3Rt6-8Lm4";
pub(super) const HEADER: &str = "hV5x.Qj8w_Zk2n";
pub(super) const QUERY: &str = "nX4k Wq7z&Jv9";

/// The forms that a text may come back in.
fn forms(secret: &str) -> Vec<String> {
    let form: String = byte_serialize(secret.as_bytes()).collect();
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let digits: Vec<_> = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let hex = digits.concat();
    let basic = format!("{}:{form}", "client");
    let letters: Vec<String> = secret.chars().map(String::from).collect();
    let spread = |between: &str| letters.join(between);
    vec![
        secret.to_owned(),
        secret.to_uppercase(),
        secret.to_lowercase(),
        form.clone(),
        form.to_lowercase(),
        percent.to_lowercase(),
        percent,
        STANDARD.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE.encode(secret),
        URL_SAFE_NO_PAD.encode(format!("?{secret}")),
        URL_SAFE_NO_PAD.encode(format!("ab{secret}cd")),
        format!("Basic {}", STANDARD.encode(&basic)),
        hex.to_uppercase(),
        hex,
        spread("\u{200b}"),
        spread("\u{ad}"),
        secret.replace('&', "&amp;"),
        secret.replace('&', "&amp;").replace('+', "&#43;"),
        secret.replace('&', "\\u0026").replace('+', "\\u002b"),
        format!("\"{}\"", secret.replace('/', "\\/")),
        format!("{}{}", "x".repeat(290), secret),
        format!("Bearer {secret}"),
        format!("https://evil.suite.test/?t={form}#x"),
    ]
}

/// What is left of a text that was broken up, or written in capitals.
fn bare(text: &str) -> String {
    let kept = text.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|character| character.to_ascii_lowercase())
        .collect()
}

/// The beginnings of all forms of all secrets that say too much wherever they stand.
static LEAKS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let mut leaks = Vec::new();
    for secret in [SECRET, TOKEN, KEY, HEADER, QUERY] {
        let least = bare(secret).len().min(12);
        for form in forms(secret) {
            let form = form.trim_start_matches(['x', 'h', 't', 'p', 's', ':', '/']);
            let form = form.strip_prefix("Bearer ").unwrap_or(form);
            let form = form.strip_prefix("evil.suite.test/?t=").unwrap_or(form);
            let mut begin = bare(form);
            begin.truncate(24);
            if begin.len() >= least {
                leaks.push((secret, begin));
            }
        }
    }
    leaks
});

pub(super) fn assert_nothing_leaks(printed: &str, about: &str) {
    for line in printed.lines() {
        let said = bare(line);
        if let Some((secret, leak)) = LEAKS.iter().find(|(_, leak)| said.contains(leak)) {
            panic!("{about}: {leak} of {secret} in: {line}");
        }
    }
}

/// Every place of a reply that may get into an error, a span or an event.
fn echoes(text: &str) -> Vec<Step> {
    let plain = |c: &char| !c.is_control() && c.is_ascii();
    let safe: String = text.chars().filter(plain).collect();
    let error = |status: u16, body: &Value| reply_of(status, body).header("x-request-id", &*safe);
    let about = json!({"code": "c", "message": format!("about {text}"), "requestId": text});
    vec![
        error(401, &json!({"error": text, "error_description": text})),
        error(
            403,
            &json!({"code": text, "message": text, "requestId": text}),
        ),
        error(409, &json!({"error": about})),
        error(503, &json!({"message": text})).header("retry-after", &*safe),
        reply(400)
            .body(format!("<html><pre>{text}</pre></html>"))
            .header("www-authenticate", &*safe),
        reply_of(200, &json!({"schemaVersion": text, "outcome": text}))
            .header("x-request-id", &*safe),
        reply_of(200, &json!([text])).header("x-echo", &*safe),
        reply(200).body(text).header("x-request-id", &*safe),
        reply_of(200, &json!({text: 1, "publicReference": 7})),
        reply(409).reason(&*safe),
        reply(302).header("location", format!("https://evil.suite.test/{safe}")),
    ]
}

pub(super) fn suite_of(peer: &Peer) -> sdk_core::SuiteBuilder {
    builder_at(&peer.url())
        .retry(RetryPolicy::none())
        .token_policy(quick_tokens_with(|it| it.attempts = 1))
}

/// An event command with all that is confidential.
pub(super) fn confidential(calendar: &sdk_calendar::Client) -> sdk_calendar::SubmitEventCommand {
    let call = kick_off(calendar).idempotency_key(key(KEY));
    call.header("x-tenant", HEADER).query("tenant", QUERY)
}

/// One in so many of the echoes; `ECHOES=1` tries them all.
fn share() -> usize {
    std::env::var("ECHOES").map_or(32, |text| text.parse().unwrap())
}

#[tokio::test]
async fn fault_41_thousands_of_hostile_echoes_are_not_shown_at_any_level() {
    let (events, _guard) = Events::here();
    let (mut tried, mut heard, share) = (0_usize, 0, share());
    for secret in [SECRET, TOKEN, KEY, HEADER, QUERY] {
        for form in forms(secret) {
            let wrapped = [
                form.clone(),
                format!("not {form} here"),
                format!("a{form}z"),
                format!("{{\"got\":\"{form}\"}}"),
                format!("<p title='{form}'>{form}</p>"),
                format!("{}{form}", "blank ".repeat(48)),
            ];
            for text in wrapped {
                let scope = format!("a {form}");
                let token = json!({"access_token": TOKEN, "scope": scope, "expires_in": 300});
                for step in echoes(&text) {
                    tried += 1;
                    if tried % share != 0 {
                        continue;
                    }
                    // From the application, and what the token endpoint gets from there too.
                    let from_application =
                        always(step.clone()).tokens_always(reply_of(200, &token));
                    let from_endpoint = script([]).tokens_always(step);
                    let peers = std::iter::once(from_application)
                        .chain((secret == SECRET).then_some(from_endpoint));
                    for script in peers {
                        let peer = Peer::start(script);
                        let credentials = ClientCredentials::new("client", SECRET)
                            .with_form_field("assertion", SECRET);
                        let calendar = suite_of(&peer).credentials(credentials).calendar();
                        let error = confidential(&calendar).await.unwrap_err();
                        assert_nothing_leaks(&print_error(&error), &text);
                    }
                }
                let reported = events.take();
                assert_nothing_leaks(&reported, "events");
                for word in ["suite.call", "suite.attempt", "suite.token"] {
                    heard += usize::from(reported.contains(word));
                }
            }
        }
    }
    println!("{} hostile echoes of {tried}", tried / share);
    assert!(tried > 5_000 && heard > tried / 100, "{tried} {heard}");
}

#[tokio::test]
async fn fault_81_what_a_caller_hid_in_headers_and_parameters_is_not_shown_by_an_echo() {
    let bad = json!({"message": format!("bad {HEADER}, bad {QUERY}")});
    let peer = Peer::start(always(reply_of(400, &bad).header("x-got", HEADER)));
    let defaults = CallOptions::default()
        .with_header("x-api-key", HEADER)
        .with_query("tenant", QUERY);
    let crm = suite_of(&peer).crm().with_defaults(defaults);
    let error = crm.people().list().await.unwrap_err();
    assert_nothing_leaks(&print_error(&error), "defaults");
    assert_eq!(error.headers().unwrap().get("x-got").unwrap(), "[redacted]");
    assert_eq!(peer.requests()[0].header("x-api-key"), Some(HEADER));
}
