//! Rows 32 and 41: errors, events and panics of a call if a server echoes the values of the request.

use http::Request;
use sdk_core::transport::{RequestBody, Transport, TransportFuture};
use sdk_core::{ClientAuthentication, Method, Suite};
use serde_json::{Value, json};

use super::forms::{ALL, FIELD, HEADER, KEY, QUERY, SECRET, TOKEN, assert_nothing_leaks, forms};
use super::{confidential, credentials, once, print, print_error, with_both, with_token};
use crate::pagination::{page, rest};
use crate::peer::{Over, Step, always, json as reply_of, over_all, redirect, reply, reset};
use crate::support::{Clients, Events, builder_at, builder_to, is_long, key, stored};

over_all! { fault_32_no_error_event_or_panic_contains_sent_values }

async fn fault_32_no_error_event_or_panic_contains_sent_values(over: Over) {
    let (events, _guard) = Events::here();
    let mut printed = String::new();
    let echo = [TOKEN, KEY, HEADER, QUERY].join(" ");
    let refused = json!({"code": echo, "message": echo, "requestId": echo});
    for step in [
        reply_of(401, &refused).header("x-request-id", &*echo),
        reply_of(409, &refused).reason(&*echo),
        reply_of(503, &refused),
        reply_of(200, &json!(echo)),
        reply(200).body(format!("<html>authorization: Bearer {echo}</html>")),
        reset(),
    ] {
        let peer = over.start(with_token(always(step)));
        let calendar = builder_to(&peer)
            .credentials(credentials(ClientAuthentication::Basic))
            .calendar();
        let command = confidential(&calendar);
        let panicked = tokio::spawn(async { command.await.unwrap() }).await;
        let panicked = panicked.unwrap_err().into_panic();
        printed += panicked.downcast_ref::<String>().unwrap();
        let error = confidential(&calendar).await.unwrap_err();
        printed += &(print_error(&error) + &print(&error.command()));
        let seen = &peer.requests()[0];
        assert_eq!((seen.key(), seen.bearer()), (Some(KEY), Some(TOKEN)));
    }
    let events = events.text();
    assert_nothing_leaks(&(printed + &events), "calls");
    for reported in [
        "suite.call",
        "suite.attempt",
        "the call is retried",
        "token renewed",
        "connecting to 127.0.0.1",
    ] {
        assert!(events.contains(reported), "{reported}");
    }
}

/// Returns one response for each call and one for each token exchange.
struct Repeating {
    call: Step,
    exchange: Step,
}

impl Transport for Repeating {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let is_exchange = request.uri().path() == "/oauth/token";
        let step = if is_exchange {
            &self.exchange
        } else {
            &self.call
        };
        let response = step.clone().in_memory();
        Box::pin(async {
            request.into_body().into_bytes()?;
            Ok(response)
        })
    }
}

/// A call whose result may quote the response.
#[derive(Clone, Copy)]
enum Call {
    Command,
    /// A resend by a client that has only the stored form of the command.
    Stored,
    List,
    /// Contract reports of an application with a known status and of one without.
    Report,
}

impl Call {
    /// Returns everything that the result prints.
    async fn printed(self, suite: &Suite) -> String {
        let calendar = suite.calendar();
        let error = match self {
            Self::Command => confidential(&calendar).await.unwrap_err(),
            Self::Stored => {
                let call = calendar.raw_call((Method::Post, "/api/calendar/v1/notes"));
                let call = call.body(json!({"note": 1})).idempotency_key(key(KEY));
                let call = call.header("x-tenant", HEADER).query("tenant", QUERY);
                let command = stored(&call.prepare().unwrap());
                let call = calendar.send_prepared(&command).allow_raw_path();
                call.await.unwrap_err()
            }
            Self::List => {
                let crm = suite.crm().with_defaults(with_both());
                rest(&mut crm.people().list().items()).await.1.unwrap()
            }
            Self::Report => {
                let crm = suite.crm().with_defaults(with_both());
                let accounting = suite.accounting().with_defaults(with_both());
                crm.prewarm().await.unwrap();
                let first = crm.check_contract().await.unwrap();
                let second = accounting.check_contract().await.unwrap();
                assert!(
                    first.metadata.is_some(),
                    "the response is available as received"
                );
                return format!("{first}\n{second}\n{:?}{:?}", first.status, second.status);
            }
        };
        // Headers are not printed, but the caller gets them with the error.
        format!(
            "{}\n{:?}\n{}",
            error.message(),
            error.headers(),
            print_error(&error)
        )
    }
}

/// Returns every position in a response that may get into an error, a span, an event or a report. The first four are
/// messages.
fn places(text: &str) -> Vec<(Call, Step)> {
    let in_header = if text.is_ascii() { text } else { "left out" };
    let with_id = |step: Step| step.header("x-request-id", in_header);
    let of = |status: u16, body: &Value| with_id(reply_of(status, body));
    let all = json!({"code": text, "message": text, "requestId": text});
    let about = json!({"code": "c", "message": format!("about {text}"), "requestId": text});
    let metadata = json!({
        "schemaVersion": text, "service": text, "version": text, "status": text, text: 1,
    });
    // The list of field names is truncated within the value, or the resulting line is.
    let list = |before: usize| {
        let body = json!({"nextCursor": null, format!("{}{text}", "n".repeat(before)): 1});
        (Call::List, of(200, &body))
    };
    let items = |items: Value| {
        let body = json!({"nextCursor": null, "items": items});
        (Call::List, of(200, &body))
    };
    let html = format!("<html><pre>{text}</pre></html>");
    let error = json!({"error": text, "error_description": text});
    let busy = of(503, &json!({"message": text})).header("retry-after", in_header);
    vec![
        (Call::Command, of(401, &error)),
        (Call::Command, of(403, &all)),
        (Call::Command, of(409, &json!({"error": about}))),
        (Call::Command, busy),
        (
            Call::Command,
            reply(400).body(html).header("www-authenticate", in_header),
        ),
        (
            Call::Command,
            of(200, &json!({"schemaVersion": text, "outcome": text})),
        ),
        (
            Call::Command,
            of(200, &json!([text])).header("x-echo", in_header),
        ),
        (Call::Command, with_id(reply(200).body(text))),
        (
            Call::Command,
            of(200, &json!({text: 1, "publicReference": 7})),
        ),
        (
            Call::Command,
            redirect(302, format!("https://evil.suite.test/{in_header}")),
        ),
        (Call::Stored, of(409, &all).header("x-got", in_header)),
        (Call::Stored, reply(200).body(text)),
        list(0),
        list(215),
        list(267),
        items(json!([text])),
        items(json!(text)),
        (Call::List, of(200, &json!({text: 1}))),
        // A repeated cursor, which is sent unchanged.
        (Call::List, page(&["a"], text)),
        (Call::Report, reply_of(200, &metadata)),
    ]
}

#[tokio::test]
async fn fault_41_no_form_of_a_secret_is_printed_from_any_position() {
    let (events, _guard) = Events::here();
    let mut echoes = 0;
    for secret in ALL {
        let begin: String = secret.chars().take(5).collect();
        for (at, form) in forms(secret).into_iter().enumerate() {
            let text = match at % 3 {
                0 => form.clone(),
                1 => format!("not {form} here"),
                _ => format!("{{\"got\":\"{form}\"}}"),
            };
            let scope = json!({"access_token": TOKEN, "scope": text, "expires_in": 300});
            for (place, (call, step)) in places(&text).into_iter().enumerate() {
                // One search serves all positions. The value itself is tested in all positions, and each form in two.
                let is_usual = at == 0 || place == at % 4 || place == 4 + at % 16;
                // Lists have no key.
                if !(is_usual || is_long()) || secret == KEY && place > 11 {
                    continue;
                }
                let from_application = (call, step.clone(), reply_of(200, &scope));
                let from_endpoint = (Call::Command, reply(500), step);
                // The token endpoint receives only the credentials. A stored command needs no field of the credentials.
                let of_endpoint = place < 10 && [SECRET, FIELD].contains(&secret);
                let both = [Some(from_application), of_endpoint.then_some(from_endpoint)];
                for (call, step, exchange) in both.into_iter().flatten() {
                    let about = format!("{text} in place {place}");
                    let transport = Repeating {
                        call: step,
                        exchange,
                    };
                    let suite = once(builder_at("https://suite.test")).transport(transport);
                    let printed = call.printed(&suite.suite()).await + &events.take();
                    assert!(printed.contains("suite.call"), "{about}");
                    assert!(
                        place > 3 || printed.contains("[redacted: it"),
                        "{about}: {printed}"
                    );
                    assert!(at > 0 || !printed.contains(&begin), "{about}: {printed}");
                    assert_nothing_leaks(&printed, &about);
                    echoes += 1;
                }
            }
        }
    }
    assert!(echoes > 400, "{echoes}");
}
