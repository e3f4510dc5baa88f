//! The SDK of a simulation: its calls and its transport.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use sdk_core::Error;
use sdk_core::transport::RequestBody;
use tower_service::Service;

use super::body::Arriving;
use super::call::Failure;
use super::network::{BoxError, Network};
use super::stage::Stage;

/// Which SDK a simulation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sdk {
    /// The SDK as it is.
    Correct,
}

/// Makes a call as the SDK of this simulation does, with its deadline after `time`.
pub(super) async fn call<R>(
    stage: &Stage,
    _time: Duration,
    call: impl Future<Output = Result<R, Error>>,
) -> Result<R, Failure> {
    call.await.map_err(|error| {
        if stage.keeps_lines() {
            stage.log(&error);
            stage.log(&format!("{error:?}"));
        }
        Failure::from(error)
    })
}

/// The network, as the SDK of a simulation uses it.
#[derive(Clone)]
pub(super) struct Wire {
    network: Network,
}

impl Wire {
    pub(super) fn new(network: &Network, _sdk: Sdk) -> Self {
        let network = network.clone();
        Self { network }
    }
}

impl Service<Request<RequestBody>> for Wire {
    type Response = Response<Arriving>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Arriving>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        Box::pin(self.network.clone().carry(request))
    }
}
