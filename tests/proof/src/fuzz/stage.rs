//! Clients of all four applications on a transport that answers from a script, and what must be true of every error.

use std::cell::LazyCell;
use std::error::Error as _;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use sdk_core::transport::{ReplyBody, RequestBody, Transport, TransportFuture};
use sdk_core::{App, ClientCredentials, Error, RetryPolicy, Suite, SuiteBuilder};
use tokio::runtime::{Builder, Runtime};

/// What no text may show, even if a reply repeats it. Both stand in the corpus.
pub(super) const SECRET: &str = "fuzzed-secret-51d0e8a7";
const TOKEN: &str = "fuzzed-token-7f3a9c52";
const HEX: &str = "66757a7a65642d7365637265742d3531643065386137";
const BASE64: &str = "ZnV6emVkLXNlY3JldC01MWQwZThhNw==";

pub(super) struct Stage {
    net: Net,
    pub(super) crm: sdk_crm::Client,
    pub(super) calendar: sdk_calendar::Client,
    pub(super) accounting: sdk_accounting::Client,
    pub(super) platform: sdk_platform::Client,
}

#[derive(Clone, Default)]
struct Net(Arc<Mutex<Script>>);

/// Answers by their number, the last one for good, and what they answered.
#[derive(Default)]
pub(super) struct Script {
    answers: Vec<Response<Bytes>>,
    token: Option<Response<Bytes>>,
    pub(super) seen: Vec<Request<Bytes>>,
    pub(super) forms: Vec<Request<Bytes>>,
}

impl Net {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Net {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let (head, body) = request.into_parts();
        let body = body.into_bytes().expect("nobody gave up");
        let request = Request::from_parts(head, body);
        let mut script = self.script();
        let answer = if request.uri().path() == "/oauth/token" {
            script.forms.push(request);
            let usual = || {
                let token = format!(r#"{{"access_token": "{TOKEN}", "expires_in": 300}}"#);
                reply(200, token)
            };
            script.token.clone().unwrap_or_else(usual)
        } else {
            let at = script.seen.len().min(script.answers.len() - 1);
            script.seen.push(request);
            script.answers[at].clone()
        };
        Box::pin(ready(Ok(answer.map(ReplyBody::from))))
    }
}

/// A reply of JSON.
pub(super) fn reply(status: u16, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = StatusCode::from_u16(status).expect("a status");
    let json = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, json);
    reply
}

impl Stage {
    fn new(change: impl FnOnce(SuiteBuilder) -> SuiteBuilder) -> Self {
        let net = Net::default();
        let builder = Suite::builder()
            .transport(net.clone())
            .credentials(ClientCredentials::new("fuzzed-client", SECRET))
            .retry(RetryPolicy::none())
            .retry_budget(u32::MAX)
            .seed(1);
        let builder = App::all().fold(builder, |suite, app| {
            suite.application_url(app, format!("https://{app}.suite.test"))
        });
        let suite = change(builder).build().expect("a suite");
        Self {
            crm: sdk_crm::Client::new(&suite).expect("an address"),
            calendar: sdk_calendar::Client::new(&suite).expect("an address"),
            accounting: sdk_accounting::Client::new(&suite).expect("an address"),
            platform: sdk_platform::Client::new(&suite).expect("an address"),
            net,
        }
    }

    pub(super) fn script(&self) -> MutexGuard<'_, Script> {
        self.net.script()
    }

    fn play<T>(&self, answers: Vec<Response<Bytes>>, calls: impl AsyncFnOnce(&Self) -> T) -> T {
        let mut script = self.script();
        (script.seen, script.forms) = (Vec::new(), Vec::new());
        script.answers = answers;
        drop(script);
        in_time(calls(self))
    }
}

/// Runs on a clock that only waits move.
pub(super) fn in_time<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            let mut builder = Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().expect("a runtime")
        });
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Calls on the clients of this thread, whose token is a fresh one.
pub(super) fn on<T>(answers: Vec<Response<Bytes>>, calls: impl AsyncFnOnce(&Stage) -> T) -> T {
    thread_local! {
        static STAGE: LazyCell<Stage> = LazyCell::new(|| Stage::new(|suite| suite));
    }
    STAGE.with(|stage| stage.play(answers, calls))
}

/// Calls on clients of their own, which know nothing of earlier inputs, with this reply to every exchange.
pub(super) fn alone<T>(
    change: impl FnOnce(SuiteBuilder) -> SuiteBuilder,
    token: Option<Response<Bytes>>,
    answers: Vec<Response<Bytes>>,
    calls: impl AsyncFnOnce(&Stage) -> T,
) -> T {
    let stage = Stage::new(change);
    stage.script().token = token;
    stage.play(answers, calls)
}

/// A text for people: one line of a bounded length that nobody can make look like another.
pub(super) fn is_line(text: &str, most: usize) {
    let count = text.chars().count();
    assert!(count <= most, "{count} characters, at most {most}: {text}");
    let odd = |c: char| c.is_control() || "\u{202e}\u{200b}\u{2028}\u{feff}".contains(c);
    assert!(!text.contains(odd), "{text:?}");
}

pub(super) fn hides(text: &str, secrets: &[&str]) {
    for secret in secrets {
        assert!(!text.contains(secret), "it shows {secret:?}: {text}");
    }
}

/// What is true of every error, also of one that shows what its caller said.
pub(super) fn is_tidy(error: &Error) {
    is_line(&error.to_string(), 2_000);
    is_line(error.message(), 1_000);
    is_line(error.code().unwrap_or_default(), 101);
    is_line(error.request_id().unwrap_or_default(), 201);
}

/// What is true of an error about what a server said.
pub(super) fn is_sound(error: &Error) {
    is_tidy(error);
    let secrets = [SECRET, TOKEN, HEX, BASE64];
    hides(
        &format!("{error} {error:?} {:?}", error.headers()),
        &secrets,
    );
    let mut cause = error.source();
    while let Some(inner) = cause {
        hides(&format!("{inner} {inner:?}"), &secrets);
        cause = inner.source();
    }
}
