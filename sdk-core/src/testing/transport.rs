use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};

use crate::app::App;
use crate::macros::debug_fields;
use crate::suite::Suite;
use crate::suite::builder::SuiteBuilder;
use crate::token::credentials::ClientCredentials;
use crate::transport::{ReplyBody, RequestBody, Transport, TransportError, TransportFuture};

/// A transport that answers from a script and remembers what it was sent: the whole client runs, and nothing else.
///
/// Each request takes the next answer. Token exchanges (all forms) are answered by themselves and take none. A request after the last
/// answer fails at once and says so.
///
/// ```
/// # use sdk_core::testing::ScriptedTransport;
/// # use sdk_core::{App, Error};
/// # async fn list_people(_suite: &sdk_core::Suite) -> Result<(), Error> { Ok(()) }
/// # async fn example() -> Result<(), Error> {
/// let transport = ScriptedTransport::new()
///     .status(503)
///     .json(200, r#"{"items": [], "nextCursor": null}"#);
/// let suite = transport.suite().build()?;
///
/// list_people(&suite).await?; // of the program that is tested
///
/// assert_eq!(transport.requests().len(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct ScriptedTransport(Arc<Mutex<State>>);

/// Odd enough not to occur in what a script says, since no error shows it.
const SECRET: &str = "scripted-secret-51d0e8a7";

/// As odd.
const TOKEN: &str =
    r#"{"access_token": "scripted-token-7f3a9c52", "token_type": "Bearer", "expires_in": 300}"#;

#[derive(Default)]
struct State {
    answers: VecDeque<Answer>,
    requests: Vec<Request<Bytes>>,
}

enum Answer {
    Reply(Response<Bytes>),
    NotSent,
    Lost,
    Stalled,
}

impl ScriptedTransport {
    /// A transport without an answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the next request with this JSON.
    ///
    /// # Panics
    /// If the status is none.
    pub fn json(self, status: u16, body: impl Into<Bytes>) -> Self {
        let status = StatusCode::from_u16(status).expect("a status from 100 to 999");
        self.answer(reply(status, body.into()))
    }

    /// Answers the next request with this response, whatever its headers.
    pub fn answer(self, response: Response<impl Into<Bytes>>) -> Self {
        self.then(Answer::Reply(response.map(Into::into)))
    }

    /// Answers the next request with a status and no body.
    ///
    /// # Panics
    /// If the status is none.
    pub fn status(self, status: u16) -> Self {
        self.json(status, Bytes::new())
    }

    /// Refuses the connection for the next request, so that it is not sent.
    pub fn not_sent(self) -> Self {
        self.then(Answer::NotSent)
    }

    /// Takes the next request and breaks the connection, so that its effect is unknown.
    pub fn lost(self) -> Self {
        self.then(Answer::Lost)
    }

    /// Takes the next request and never answers, so that its attempt times out. With a paused clock, this takes no time.
    pub fn stalled(self) -> Self {
        self.then(Answer::Stalled)
    }

    /// A suite of all applications that sends through it, to be changed before it is built. Application `crm` is at
    /// `https://crm.suite.test`, and so on.
    pub fn suite(&self) -> SuiteBuilder {
        let suite = Suite::builder()
            .transport(self.clone())
            .credentials(ClientCredentials::new("scripted-client", SECRET));
        App::all().fold(suite, |suite, app| suite.application_url(app, url(app)))
    }

    /// How many answers are left.
    #[must_use]
    pub fn answers_left(&self) -> usize {
        self.state().answers.len()
    }

    /// The requests so far, without those for tokens.
    #[must_use]
    pub fn requests(&self) -> Vec<Request<Bytes>> {
        self.state().requests.clone()
    }

    fn then(self, answer: Answer) -> Self {
        self.state().answers.push_back(answer);
        self
    }

    // No panic under the lock can leave the script half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ScriptedTransport {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        // At whatever address: nothing else is a form.
        let form = request.headers().get(CONTENT_TYPE);
        if form.is_some_and(|it| it.as_bytes() == b"application/x-www-form-urlencoded") {
            return Box::pin(async {
                request.into_body().into_bytes()?;
                Ok(reply(StatusCode::OK, TOKEN.into()).map(ReplyBody::from))
            });
        }
        let answer = self.state().answers.pop_front();
        let Some(answer) = answer else {
            let (method, path) = (request.method(), request.uri().path());
            let ended = format!("the script has ended, and {method} {path} comes after it");
            return Box::pin(async { Err(TransportError::rejected(ended)) });
        };
        if let Answer::NotSent = answer {
            let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
            return Box::pin(async { Err(TransportError::not_sent(refused)) });
        }
        let (head, body) = request.into_parts();
        let body = match body.into_bytes() {
            Ok(body) => body,
            Err(given_up) => return Box::pin(async { Err(given_up) }),
        };
        self.state().requests.push(Request::from_parts(head, body));
        Box::pin(async {
            match answer {
                Answer::Reply(response) => Ok(response.map(ReplyBody::from)),
                Answer::Stalled => pending().await,
                Answer::Lost | Answer::NotSent => {
                    let reset = io::Error::from(io::ErrorKind::ConnectionReset);
                    Err(TransportError::unknown(reset))
                }
            }
        })
    }
}

/// Where an application is, and the audience of its tokens.
pub(super) fn url(app: App) -> String {
    format!("https://{app}.suite.test")
}

fn reply(status: StatusCode, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

// Without the requests, whose bodies may be confidential.
debug_fields! { ScriptedTransport |it| answers_left: it.state().answers.len(), requests: it.state().requests.len() }
