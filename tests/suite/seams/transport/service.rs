//! A service in memory that a test scripts.

use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Request, Response};
use sdk_core::transport::{ReplyBody, RequestBody};
use sdk_core::{App, SuiteBuilder};
use serde_json::json;
use tower_service::Service;

use crate::peer::Step;
use crate::support::builder_at;

pub(crate) type Answer = io::Result<Response<ReplyBody>>;
type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A service made of one function. It answers token exchanges by itself, unless it is told otherwise.
#[derive(Clone)]
pub(crate) struct Scripted {
    answer: Arc<dyn Fn(Request<RequestBody>) -> Answering + Send + Sync>,
    gives_tokens: bool,
    seen: Arc<Mutex<Vec<Parts>>>,
}

impl Scripted {
    pub(crate) fn new<F>(answer: impl Fn(Request<RequestBody>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        Self {
            answer: Arc::new(move |request| Box::pin(answer(request))),
            gives_tokens: true,
            seen: Arc::default(),
        }
    }

    /// A service that answers every call like this.
    pub(crate) fn always(step: Step) -> Self {
        Self::new(move |request| {
            let taken = request.into_body().into_bytes();
            let reply = step.clone().in_memory();
            ready(taken.map(|_| reply).map_err(io::Error::other))
        })
    }

    /// Leaves token exchanges to the function too, which are then among the requests.
    pub(crate) fn without_tokens(self) -> Self {
        Self {
            gives_tokens: false,
            ..self
        }
    }

    /// The requests so far, token exchanges that it answers by itself left out.
    pub(crate) fn seen(&self) -> Vec<Parts> {
        self.seen.lock().unwrap().clone()
    }

    /// A suite that sends through it.
    pub(crate) fn suite(&self) -> SuiteBuilder {
        App::all()
            .fold(builder_at("https://suite.test"), |builder, app| {
                builder.application_url(app, format!("https://{app}.suite.test/base"))
            })
            .transport(self.clone())
    }
}

impl Service<Request<RequestBody>> for Scripted {
    type Response = Response<ReplyBody>;
    type Error = io::Error;
    type Future = Answering;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Answering {
        if self.gives_tokens && request.uri().path().ends_with("/oauth/token") {
            let token = json!({"access_token": "t-1", "token_type": "Bearer", "expires_in": 300});
            return Box::pin(async move { Ok(reply(200, token.to_string())) });
        }
        let (parts, body) = request.into_parts();
        self.seen.lock().unwrap().push(parts.clone());
        (self.answer)(Request::from_parts(parts, body))
    }
}

pub(crate) fn reply(status: u16, body: impl Into<ReplyBody>) -> Response<ReplyBody> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status.try_into().unwrap();
    response
}
