//! Custom transports and the `sdk-transport-hyper` crate: the requests they get, the evidence of their failures, and
//! the remaining guarantees.

mod evidence;
mod handed;
mod hyper;
mod replies;

use std::io;
use std::task::{Context, Poll};

use http::{Request, Response};
use sdk_core::SuiteBuilder;
use sdk_core::transport::{RequestBody, ResponseBody};
use tower_service::Service;

use crate::fixtures::Given;
use crate::support::builder_at;

type Answer = io::Result<Response<ResponseBody>>;

/// A `tower` service made of one function.
#[derive(Clone)]
pub(crate) struct Answers<F>(pub(crate) F);

impl<F, A> Service<Request<RequestBody>> for Answers<F>
where
    F: Fn(Request<RequestBody>) -> A,
    A: Future<Output = Answer>,
{
    type Response = Response<ResponseBody>;
    type Error = io::Error;
    type Future = A;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> A {
        (self.0)(request)
    }
}

/// Returns a suite at `https://suite.test` whose calls this function answers, and whose tokens need no server.
pub(crate) fn answered<F, A>(answer: F) -> SuiteBuilder
where
    F: Fn(Request<RequestBody>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let builder = builder_at("https://suite.test").token_source(Given);
    builder.transport(Answers(answer))
}

fn reply(status: u16, body: impl Into<ResponseBody>) -> Response<ResponseBody> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status.try_into().unwrap();
    response
}
