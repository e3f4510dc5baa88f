//! Clients of all four applications on a transport with scripted answers, and the checks for every error.

use std::cell::LazyCell;
use std::convert::Infallible;
use std::error::Error as _;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use sdk_core::transport::{RequestBody, ResponseBody, Transport, TransportFuture};
use sdk_core::{App, ClientCredentials, Error, RetryPolicy, Suite, SuiteBuilder};
use tokio::runtime::{Builder, Runtime};

/// The secret and the token that no message may contain, even if a response repeats them. The corpus contains both.
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

/// A marker on an answer whose body arrives in pieces of this size.
#[derive(Clone, Copy)]
pub(super) struct InPieces(pub(super) usize);

/// Scripted answers in order (the last answer is repeated) and the requests they answered.
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
        let body = body.into_bytes().expect("the caller still waits");
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
        let pieces = answer.extensions().get().copied();
        Box::pin(ready(Ok(answer.map(|body| match pieces {
            Some(InPieces(size)) => {
                let pieces: Vec<_> = body.chunks(size).map(Bytes::copy_from_slice).collect();
                let frames = pieces
                    .into_iter()
                    .map(|it| Ok::<_, Infallible>(Frame::data(it)));
                ResponseBody::new(StreamBody::new(stream::iter(frames)))
            }
            None => body.into(),
        }))))
    }
}

pub(super) fn reply(status: u16, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = StatusCode::from_u16(status).expect("a valid status");
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
        let suite = change(builder).build().expect("a valid suite");
        Self {
            crm: sdk_crm::Client::new(&suite).expect("a valid address"),
            calendar: sdk_calendar::Client::new(&suite).expect("a valid address"),
            accounting: sdk_accounting::Client::new(&suite).expect("a valid address"),
            platform: sdk_platform::Client::new(&suite).expect("a valid address"),
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

/// Runs a future on a paused clock that only timers advance.
pub(super) fn in_time<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            let mut builder = Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().expect("a runtime")
        });
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Makes calls with the clients of this thread, whose token is fresh.
pub(super) fn on<T>(answers: Vec<Response<Bytes>>, calls: impl AsyncFnOnce(&Stage) -> T) -> T {
    thread_local! {
        static STAGE: LazyCell<Stage> = LazyCell::new(|| Stage::new(|suite| suite));
    }
    STAGE.with(|stage| stage.play(answers, calls))
}

/// Makes calls with new clients, without state from earlier inputs. Every token exchange gets the response `token`.
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

/// Checks that a message is one line of bounded length, without characters that change its display.
pub(super) fn is_line(text: &str, most: usize) {
    let count = text.chars().count();
    assert!(count <= most, "{count} characters, at most {most}: {text}");
    let odd = |c: char| c.is_control() || "\u{202e}\u{200b}\u{2028}\u{feff}".contains(c);
    assert!(!text.contains(odd), "{text:?}");
}

pub(super) fn hides(text: &str, secrets: &[&str]) {
    for secret in secrets {
        assert!(
            !text.contains(secret),
            "the message contains {secret:?}: {text}"
        );
    }
}

/// Checks an error of any origin, including an error that quotes its caller's input.
pub(super) fn is_tidy(error: &Error) {
    is_line(&error.to_string(), 2_000);
    is_line(error.message(), 1_000);
    is_line(error.code().unwrap_or_default(), 101);
    is_line(error.request_id().unwrap_or_default(), 201);
}

/// Checks an error about a server's response.
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
