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
use crate::transport::{RequestBody, ResponseBody, Transport, TransportError, TransportFuture};

/// A transport that answers from a script and records the requests, so tests run the whole client without a network.
///
/// Each request gets the script's next answer, except token requests (all form requests), which are answered
/// automatically. After the last answer, further requests fail immediately with an error that names the request.
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
/// list_people(&suite).await?; // a function of your program
///
/// assert_eq!(transport.requests().len(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct ScriptedTransport(Arc<Mutex<State>>);

/// Unusual enough not to occur in a script, because errors redact every message that contains it.
const SECRET: &str = "scripted-secret-51d0e8a7";

/// Equally unusual.
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
    /// Creates a transport with an empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the next request with this JSON.
    ///
    /// # Panics
    /// If the status is not from 100 to 999.
    pub fn json(self, status: u16, body: impl Into<Bytes>) -> Self {
        let status = StatusCode::from_u16(status).expect("the status must be from 100 to 999");
        self.answer(reply(status, body.into()))
    }

    /// Answers the next request with this response, including its headers.
    pub fn answer(self, response: Response<impl Into<Bytes>>) -> Self {
        self.then(Answer::Reply(response.map(Into::into)))
    }

    /// Answers the next request with a status and no body.
    ///
    /// # Panics
    /// If the status is not from 100 to 999.
    pub fn status(self, status: u16) -> Self {
        self.json(status, Bytes::new())
    }

    /// Refuses the connection for the next request, so that it is not sent.
    pub fn not_sent(self) -> Self {
        self.then(Answer::NotSent)
    }

    /// Accepts the next request and breaks the connection, so that its effect is unknown.
    pub fn lost(self) -> Self {
        self.then(Answer::Lost)
    }

    /// Accepts the next request and never answers, so that its attempt times out. With a paused clock, this takes no
    /// real time.
    pub fn stalled(self) -> Self {
        self.then(Answer::Stalled)
    }

    /// Returns a builder for a suite that sends through this transport. You can change its other settings. Each
    /// application has its own address, such as `https://crm.suite.test`.
    pub fn suite(&self) -> SuiteBuilder {
        let suite = Suite::builder()
            .transport(self.clone())
            .credentials(ClientCredentials::new("scripted-client", SECRET));
        App::all().fold(suite, |suite, app| suite.application_url(app, url(app)))
    }

    /// Returns the number of unused answers.
    #[must_use]
    pub fn answers_left(&self) -> usize {
        self.state().answers.len()
    }

    /// Returns the requests so far, without token requests.
    #[must_use]
    pub fn requests(&self) -> Vec<Request<Bytes>> {
        self.state().requests.clone()
    }

    fn then(self, answer: Answer) -> Self {
        self.state().answers.push_back(answer);
        self
    }

    // A panic under the lock can't leave the script inconsistent.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ScriptedTransport {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        // At any address, because only token requests are forms.
        let form = request.headers().get(CONTENT_TYPE);
        if form.is_some_and(|it| it.as_bytes() == b"application/x-www-form-urlencoded") {
            return Box::pin(async {
                request.into_body().into_bytes()?;
                Ok(reply(StatusCode::OK, TOKEN.into()).map(ResponseBody::from))
            });
        }
        let answer = self.state().answers.pop_front();
        let Some(answer) = answer else {
            let (method, path) = (request.method(), request.uri().path());
            let message = format!("the script has no answer left for {method} {path}");
            return Box::pin(async { Err(TransportError::rejected(message)) });
        };
        if let Answer::NotSent = answer {
            let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
            return Box::pin(async { Err(TransportError::not_sent(refused)) });
        }
        let (head, body) = request.into_parts();
        let body = match body.into_bytes() {
            Ok(body) => body,
            Err(cancelled) => return Box::pin(async { Err(cancelled) }),
        };
        self.state().requests.push(Request::from_parts(head, body));
        Box::pin(async {
            match answer {
                Answer::Reply(response) => Ok(response.map(ResponseBody::from)),
                Answer::Stalled => pending().await,
                Answer::Lost | Answer::NotSent => {
                    let reset = io::Error::from(io::ErrorKind::ConnectionReset);
                    Err(TransportError::unknown(reset))
                }
            }
        })
    }
}

/// Returns the URL of an application, which is also the audience of its tokens.
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
