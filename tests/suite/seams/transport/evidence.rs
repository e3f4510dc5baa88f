//! Whether a request was sent, by the evidence that a transport gives.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use base64::Engine as _;
use http::{Request, Response};
use http_body::Body as _;
use sdk_core::transport::{ReplyBody, RequestBody, Transport, TransportError, TransportFuture};
use sdk_core::{Effect, ErrorKind};
use serde_json::json;
use tokio::sync::Notify;
use tower_service::Service;

use super::service::{Answer, Scripted, reply};
use crate::fixtures::{Given, add_person, get_person};
use crate::support::{Clients, assert_says, assert_tried, builder_at, key, until};

fn failing(error: impl Fn() -> io::Error + Send + Sync + 'static, reads: bool) -> Scripted {
    Scripted::new(move |request: Request<RequestBody>| {
        let error = error();
        async move {
            if reads {
                request.into_body().into_bytes().unwrap();
            }
            Err(error)
        }
    })
}

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

/// A transport that takes the body and then says this.
struct Says(fn(io::Error) -> TransportError);

impl Transport for Says {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let taken = request.into_body().into_bytes();
        let said = (self.0)(io::ErrorKind::ConnectionRefused.into());
        Box::pin(async move { taken.and_then(|_taken| Err(said)) })
    }
}

#[tokio::test]
async fn what_a_transport_says_itself_counts_whatever_lies_inside() {
    for (says, kind, effect, attempts) in [
        (
            TransportError::not_sent as fn(io::Error) -> TransportError,
            ErrorKind::Connect,
            Effect::NotSent,
            3,
        ),
        (
            TransportError::unknown,
            ErrorKind::Transport,
            Effect::Unknown,
            1,
        ),
    ] {
        let suite = Scripted::new(|_| pending::<Answer>()).suite();
        let suite = suite.token_source(Given).transport(Says(says));
        let error = add_person(&suite.crm()).await.unwrap_err();
        assert_tried(&error, kind, effect, attempts);
        let error = says(reset());
        assert_eq!(error.may_have_been_sent(), effect == Effect::Unknown);
    }
    assert!(!TransportError::rejected(reset()).may_have_been_sent());
    for (error, says) in [
        (
            TransportError::rejected(reset()),
            "the transport rejects the request",
        ),
        (
            TransportError::not_sent(reset()),
            "the request was not sent",
        ),
        (
            TransportError::unknown(reset()),
            "the request may have been sent",
        ),
    ] {
        assert_eq!(error.to_string(), says);
    }
}

#[tokio::test]
async fn what_a_transport_could_not_do_is_named() {
    let fails = |error: fn() -> TransportError| {
        let failing = failing(move || io::Error::other(error()), false);
        async move { get_person(&failing.suite().crm()).await.unwrap_err() }
    };
    let full = || TransportError::not_sent(io::Error::from_raw_os_error(24));
    assert_says(&fails(full).await, &["not sent to crm.suite.test:443"]);
    let refused = || TransportError::not_sent(io::Error::from(io::ErrorKind::ConnectionRefused));
    assert_says(&fails(refused).await, &["cannot connect to"]);
    let late = fails(|| TransportError::not_sent("late").timed_out()).await;
    assert_says(&late, &["not sent to", "late"]);
    // Whoever says it last, it was one of time.
    let late = || TransportError::unknown(TransportError::unknown(reset()).timed_out()).timed_out();
    assert_eq!(fails(late).await.kind(), ErrorKind::Timeout);
}

/// What an outsider's transport wrote: the request with its headers.
#[tokio::test]
async fn fault_41_a_transport_that_quotes_the_request_shows_no_secret() {
    for exchange in [true, false] {
        let scripted = Scripted::new(move |request: Request<RequestBody>| async move {
            let is_exchange = request.uri().path().ends_with("/oauth/token");
            if is_exchange != exchange {
                let token = json!({"access_token": "t0ken-canary", "token_type": "Bearer"});
                return Ok(reply(200, token.to_string()));
            }
            let quoted = request.headers()["authorization"].to_str().unwrap();
            Err(io::Error::other(format!("cannot send {quoted:?}")))
        });
        let crm = scripted.without_tokens().suite().crm();
        let error = get_person(&crm).await.unwrap_err();

        let basic = base64::prelude::BASE64_STANDARD.encode("client:secret");
        let mut shown = format!("{error} {error:?}");
        let mut source = std::error::Error::source(&error);
        while let Some(inner) = source {
            shown = format!("{shown} {inner} {inner:?}");
            source = inner.source();
        }
        for secret in ["t0ken-canary", &*basic] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert_says(&error, &["redacted"]);
        // The address of a call stays.
        let named = error.to_string().contains("crm.suite.test:443");
        assert_eq!(named, !exchange, "{error}");
    }
}

/// An error whose two texts differ.
struct Quotes(&'static str, &'static str);

impl std::fmt::Display for Quotes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::fmt::Debug for Quotes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.1)
    }
}

impl std::error::Error for Quotes {}

#[tokio::test]
async fn fault_41_a_cause_with_a_secret_in_either_text_is_redacted() {
    let texts = [
        ("says key-of-the-caller-1", "Quotes"),
        ("quotes", "Quotes(key-of-the-caller-1)"),
    ];
    for (shown, debugged) in texts {
        let scripted = failing(move || io::Error::other(Quotes(shown, debugged)), true);
        let call = add_person(&scripted.suite().crm());
        let error = call
            .idempotency_key(key("key-of-the-caller-1"))
            .await
            .unwrap_err();
        let causes = std::iter::successors(std::error::Error::source(&error), |it| it.source());
        let causes: Vec<_> = causes.map(|it| format!("{it} {it:?}")).collect();
        let causes = causes.concat();
        assert!(
            !format!("{error} {error:?} {causes}").contains("key-of-the"),
            "{causes}"
        );
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_gives_its_request_up() {
    let taken = Arc::new(AtomicBool::new(false));
    let (go, later) = (Arc::new(Notify::new()), Arc::clone(&taken));
    let gate = Arc::clone(&go);
    let scripted = Scripted::new(move |request: Request<RequestBody>| {
        let (gate, later) = (Arc::clone(&gate), Arc::clone(&later));
        tokio::spawn(async move {
            gate.notified().await;
            let bytes = request.into_body().into_bytes();
            later.store(bytes.is_ok(), Ordering::Relaxed);
        });
        pending::<Answer>()
    });
    let crm = scripted.suite().token_source(Given).crm();
    let call = tokio::spawn(add_person(&crm).send());
    until(|| !scripted.seen().is_empty()).await;
    call.abort();
    let _ = call.await;

    go.notify_one();
    until(|| Arc::strong_count(&taken) <= 2).await;
    assert!(!taken.load(Ordering::Relaxed));
}

/// A command that may be sent once only, unless it is certain that it was not sent.
#[tokio::test]
async fn a_failure_before_the_body_is_taken_sent_nothing_and_one_after_it_may_have() {
    let (connect, transport) = (ErrorKind::Connect, ErrorKind::Transport);
    let refused = || io::ErrorKind::ConnectionRefused.into();
    let said = || io::Error::other(TransportError::not_sent("the pool is full"));
    let unknown = || io::Error::other(TransportError::unknown("gone"));
    let late = || io::ErrorKind::TimedOut.into();
    for (scripted, kind, effect, attempts) in [
        (failing(reset, false), connect, Effect::NotSent, 3),
        (failing(reset, true), transport, Effect::Unknown, 1),
        // A layer may have sent the request before, so what an error inside says counts only while nobody took the body.
        (failing(refused, false), connect, Effect::NotSent, 3),
        (failing(refused, true), transport, Effect::Unknown, 1),
        (failing(said, false), connect, Effect::NotSent, 3),
        (failing(said, true), transport, Effect::Unknown, 1),
        (failing(unknown, true), transport, Effect::Unknown, 1),
        (failing(unknown, false), connect, Effect::NotSent, 3),
        (failing(late, true), ErrorKind::Timeout, Effect::Unknown, 1),
    ] {
        let error = add_person(&scripted.suite().crm()).await.unwrap_err();

        assert_tried(&error, kind, effect, attempts);
        assert_eq!(scripted.seen().len(), attempts as usize);
        assert!(error.into_command().is_some());
    }
}

#[tokio::test]
async fn a_read_is_attempted_again_whatever_is_known() {
    let scripted = failing(reset, true);
    let error = get_person(&scripted.suite().crm()).await.unwrap_err();
    assert_tried(&error, ErrorKind::Transport, Effect::Unknown, 3);
    assert_says(&error, &["crm.suite.test:443"]);
}

#[tokio::test]
async fn what_a_transport_refuses_is_refused_once() {
    let refused = || io::Error::other(TransportError::rejected("not on the list of hosts"));
    let scripted = failing(refused, false);
    let error = get_person(&scripted.suite().crm()).await.unwrap_err();
    assert_tried(&error, ErrorKind::InvalidInput, Effect::NotSent, 1);
    assert_eq!(scripted.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn fault_45_time_that_ends_before_the_body_is_taken_sent_nothing() {
    for (reads, effect, attempts) in [(false, Effect::NotSent, 3), (true, Effect::Unknown, 1)] {
        let scripted = Scripted::new(move |request: Request<RequestBody>| async move {
            let body = request.into_body();
            if reads {
                body.into_bytes().unwrap();
            }
            pending::<Answer>().await
        });
        let error = add_person(&scripted.suite().crm()).await.unwrap_err();

        assert_tried(&error, ErrorKind::Timeout, effect, attempts);
    }
}

/// A transport that sends in a task of its own must not send what the call has given up, neither its body nor, over HTTP/2,
/// the end of a request without one.
#[tokio::test(start_paused = true)]
async fn a_request_that_was_given_up_cannot_be_sent_later() {
    let (go, sent) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let gate = (Arc::clone(&go), Arc::clone(&sent));
    let scripted = Scripted::new(move |request: Request<RequestBody>| {
        let (go, sent) = gate.clone();
        tokio::spawn(async move {
            go.notified().await;
            let body = request.into_body();
            let ended = body.is_end_stream();
            sent.fetch_or(ended || body.into_bytes().is_ok(), Ordering::Relaxed);
        });
        pending::<Answer>()
    });
    let crm = scripted.suite().crm();
    let error = add_person(&crm).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent);
    let error = get_person(&crm).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);

    go.notify_waiters();
    tokio::task::yield_now().await;
    assert!(!sent.load(Ordering::Relaxed));
}

/// A service that is never ready.
#[derive(Clone)]
struct Full;

impl Service<Request<RequestBody>> for Full {
    type Response = Response<ReplyBody>;
    type Error = &'static str;
    type Future = std::future::Ready<Result<Response<ReplyBody>, &'static str>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        Poll::Ready(Err("overloaded"))
    }

    fn call(&mut self, _request: Request<RequestBody>) -> Self::Future {
        unreachable!("it is never ready")
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_not_ready_sent_nothing() {
    let suite = builder_at("https://suite.test").transport(Full);
    let suite = suite.token_source(Given);
    let error = add_person(&suite.crm()).await.unwrap_err();
    assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 3);
    assert_says(&error, &["overloaded"]);
}
