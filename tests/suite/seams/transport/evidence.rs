//! The evidence of transports about whether a request was sent.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use base64::Engine as _;
use http::{Request, Response};
use http_body::Body as _;
use sdk_core::transport::{RequestBody, ResponseBody, Transport, TransportError, TransportFuture};
use sdk_core::{Effect, ErrorKind, RetryPolicy, SuiteBuilder};
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tower_service::Service;

use super::{Answer, Answers, answered, reply};
use crate::fixtures::{Given, add_person, get_person};
use crate::secrets::print_error;
use crate::support::{Clients, assert_says, assert_tried, builder_at, drop_when, key};

/// Returns a suite whose transport fails with this error, or never answers, before or after it takes the body.
fn ending(reads: bool, error: Option<fn() -> io::Error>) -> SuiteBuilder {
    answered(move |request| async move {
        let body = request.into_body();
        if reads {
            body.into_bytes().unwrap();
        }
        match error {
            Some(error) => Err(error()),
            None => pending().await,
        }
    })
}

fn failing(reads: bool, error: fn() -> io::Error) -> SuiteBuilder {
    ending(reads, Some(error))
}

/// Returns a suite whose transport wraps this error.
fn wrapping(error: fn() -> TransportError) -> SuiteBuilder {
    answered(move |_| async move { Err(io::Error::other(error())) })
}

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

fn refused() -> io::Error {
    io::ErrorKind::ConnectionRefused.into()
}

/// A transport that takes the body and then returns this error.
struct Says(fn(io::Error) -> TransportError);

impl Transport for Says {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let taken = request.into_body().into_bytes();
        let error = (self.0)(refused());
        Box::pin(async move { taken.and_then(|_taken| Err(error)) })
    }
}

/// A service that is never ready.
#[derive(Clone)]
struct Full;

impl Service<Request<RequestBody>> for Full {
    type Response = Response<ResponseBody>;
    type Error = &'static str;
    type Future = std::future::Ready<Result<Response<ResponseBody>, &'static str>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        Poll::Ready(Err("overloaded"))
    }

    fn call(&mut self, _request: Request<RequestBody>) -> Self::Future {
        unreachable!("the service is never ready")
    }
}

/// The command must be sent only once, unless it is known not to have been sent.
#[tokio::test(start_paused = true)]
async fn a_command_is_resent_only_with_evidence_that_it_was_not_sent() {
    type Row = (SuiteBuilder, ErrorKind, Effect, u32, &'static str);
    let given = || builder_at("https://suite.test").token_source(Given);
    let (unsent, unknown) = (Effect::NotSent, Effect::Unknown);
    let (connect, transport) = (ErrorKind::Connect, ErrorKind::Transport);
    let (late, invalid) = (ErrorKind::Timeout, ErrorKind::InvalidInput);
    let says = |error| given().transport(Says(error));
    let no_file = || TransportError::not_sent(io::Error::from_raw_os_error(24));
    let refusal = || TransportError::not_sent(refused());
    let slow = || TransportError::not_sent("late").timed_out();
    let twice = || {
        let inner = TransportError::unknown(reset()).timed_out();
        io::Error::other(TransportError::unknown(inner).timed_out())
    };
    let listed = || TransportError::rejected("not on the list of hosts");
    let sent = || TransportError::unknown("gone");
    let pool = || io::Error::other(TransportError::not_sent("the pool is full"));
    let gone = || io::Error::other(TransportError::unknown("gone"));
    let timed_out = || io::ErrorKind::TimedOut.into();
    let rows: [Row; 19] = [
        // The transport's own error counts, even if the body was taken.
        (says(TransportError::not_sent), connect, unsent, 3, ""),
        (says(TransportError::unknown), transport, unknown, 1, ""),
        (given().transport(Full), connect, unsent, 3, "overloaded"),
        (failing(false, reset), connect, unsent, 3, ""),
        (failing(true, reset), transport, unknown, 1, "test:443"),
        // A layer may have sent the request before, so a wrapped error counts only if the body was not taken.
        (failing(false, refused), connect, unsent, 3, ""),
        (failing(true, refused), transport, unknown, 1, ""),
        (failing(false, pool), connect, unsent, 3, ""),
        (failing(true, pool), transport, unknown, 1, ""),
        (failing(true, gone), transport, unknown, 1, ""),
        (failing(true, timed_out), late, unknown, 1, ""),
        (wrapping(sent), connect, unsent, 3, ""),
        (wrapping(no_file), connect, unsent, 3, "not sent to suite"),
        (wrapping(refusal), connect, unsent, 3, "cannot connect to"),
        (wrapping(slow), connect, unsent, 3, "late"),
        (failing(true, twice), late, unknown, 1, ""),
        (wrapping(listed), invalid, unsent, 1, "not on the list"),
        (ending(false, None), late, unsent, 3, ""),
        (ending(true, None), late, unknown, 1, ""),
    ];
    for (row, (suite, kind, effect, attempts, word)) in rows.into_iter().enumerate() {
        println!("row {row}");
        let error = add_person(&suite.crm()).await.unwrap_err();
        assert_tried(&error, kind, effect, attempts);
        assert_says(&error, &[word]);
        assert!(error.into_command().is_some());
    }
    let read = get_person(&failing(true, reset).crm()).await.unwrap_err();
    assert_tried(&read, transport, unknown, 3);
}

/// An error with its message in only one of its two formats.
enum Quotes {
    InDisplay(String),
    InDebug(String),
}

impl std::fmt::Display for Quotes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InDisplay(text) => f.write_str(text),
            Self::InDebug(_) => f.write_str("quotes"),
        }
    }
}

impl std::fmt::Debug for Quotes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InDisplay(_) => f.write_str("Quotes"),
            Self::InDebug(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Quotes {}

#[tokio::test]
async fn a_transport_error_that_quotes_the_request_contains_no_secret() {
    let basic = base64::prelude::BASE64_STANDARD.encode("client:secret");
    for (exchange, quotes) in [true, false]
        .into_iter()
        .flat_map(|it| [Quotes::InDisplay, Quotes::InDebug].map(|quotes| (it, quotes)))
    {
        let service = Answers(move |request: Request<RequestBody>| async move {
            let is_exchange = request.uri().path().ends_with("/oauth/token");
            if is_exchange != exchange {
                let token = json!({"access_token": "t0ken-canary", "token_type": "Bearer"});
                return Ok(reply(200, token.to_string()));
            }
            let headers = request.headers().values();
            let headers: Vec<_> = headers.map(|it| it.to_str().unwrap()).collect();
            Err(io::Error::other(quotes(headers.join(" "))))
        });
        let crm = builder_at("https://suite.test").transport(service).crm();
        let call = add_person(&crm).idempotency_key(key("key-of-the-caller-1"));
        let error = call.await.unwrap_err();

        let shown = print_error(&error);
        assert!(shown.contains("redacted") || shown.contains("quotes"));
        for secret in ["t0ken-canary", &basic, "key-of-the"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        // The address of a call stays visible.
        assert!(exchange || shown.contains("suite.test:443"), "{error}");
    }
}

/// A transport that sends in its own task can't send a request that the call abandoned: neither its body nor, over
/// HTTP/2, the end of a request without a body.
#[tokio::test(start_paused = true)]
async fn an_abandoned_request_cannot_be_sent_later() {
    let go = Arc::new(Notify::new());
    let (tell, mut sent) = mpsc::unbounded_channel();
    let (gate, reached) = (Arc::clone(&go), Arc::new(Notify::new()));
    let here = Arc::clone(&reached);
    let suite = answered(move |request| {
        let (gate, tell) = (Arc::clone(&gate), tell.clone());
        here.notify_one();
        tokio::spawn(async move {
            gate.notified().await;
            let body = request.into_body();
            let ended = body.is_end_stream();
            tell.send(ended || body.into_bytes().is_ok()).unwrap();
        });
        pending::<Answer>()
    });
    let crm = suite.retry(RetryPolicy::none()).crm();

    drop_when(reached.notified(), add_person(&crm).send()).await;
    let error = add_person(&crm).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent);
    let error = get_person(&crm).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);

    go.notify_waiters();
    for _ in 0..3 {
        assert_eq!(sent.recv().await, Some(false));
    }
}
