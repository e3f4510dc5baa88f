//! SDKs that are broken on purpose: wrappers around the calls and the transport of the real one. The checker must reject
//! each of them.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use sdk_core::transport::{RequestBody, TransportError};
use sdk_core::{Effect, Error, ErrorKind, PreparedCommand};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tower_service::Service;

use super::answer::json;
use super::body::Arriving;
use super::call::Failure;
use super::network::{BoxError, KEY, Network, TENANT};
use super::stage::{Number, Stage, locked};
use crate::fuzz::command_digest;

/// The SDK that a simulation runs. A further broken SDK is a variant here, its row in [`BROKEN`](Sdk::BROKEN), and a branch in
/// `call`, `report`, `resent` or `Wire::carry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sdk {
    /// The SDK as it is.
    Correct,
    /// It sends nothing, and reports each call as `Refused`.
    RejectsAll,
    /// It reports each failure of an attempt as `Refused`.
    ReportsRefused,
    /// It reports each failure as `Unknown`.
    ReportsUnknown,
    /// It makes one attempt.
    NeverRetries,
    /// It begins a call when the one before has ended.
    OneAtATime,
    /// It has at most ten calls in flight.
    TenAtATime,
    /// It resends a command with another key.
    FreshKey,
    /// Its errors return the command with another key.
    ReturnsFreshKey,
    /// It sends a command without a key again after a failure.
    RetriesUnkeyed,
    /// It ends a list after two pages at the latest.
    EndsEarly,
    /// It delivers the first item of each page twice.
    RepeatsItem,
    /// It exchanges the credential for each attempt.
    RenewsAlways,
    /// It never renews a token.
    DeadToken,
    /// It returns each result only at the deadline of its call.
    HoldsResponses,
    /// It reports each request without a response as not sent.
    LostAsNotSent,
    /// It sends the default header of the client of another installation.
    ForeignHeader,
}

impl Sdk {
    /// Each broken SDK with the invariant that it violates.
    pub const BROKEN: &[(Self, &'static str)] = &[
        (Self::RejectsAll, "refused: the service said so"),
        (Self::ReportsRefused, "refused: the service said so"),
        (Self::ReportsUnknown, "unknown: an attempt is open"),
        (Self::NeverRetries, "a failure that may pass is tried again"),
        (Self::OneAtATime, "a call that can leave leaves"),
        (Self::TenAtATime, "a call that can leave leaves"),
        (Self::FreshKey, "a resend is the same command"),
        (
            Self::ReturnsFreshKey,
            "an error returns the command that was sent",
        ),
        (
            Self::RetriesUnkeyed,
            "what has no key is sent again only if it had no effect",
        ),
        (Self::EndsEarly, "a walk ends at the end"),
        (Self::RepeatsItem, "a walk delivers once"),
        (Self::RenewsAlways, "one exchange a generation"),
        (Self::DeadToken, "no dead token is sent"),
        (Self::HoldsResponses, "a call ends with its response"),
        (Self::LostAsNotSent, "not sent: the service saw nothing"),
        (Self::ForeignHeader, "headers stay in their installation"),
    ];

    fn report(self, stage: &Stage, error: Error) -> Failure {
        if stage.keeps_lines() {
            stage.log(&error);
            stage.log(&format!("{error:?}"));
        }
        let mut failure = Failure::from(error);
        match self {
            Self::ReportsRefused if failure.attempts > 0 => failure.effect = Effect::Refused,
            Self::ReportsUnknown => failure.effect = Effect::Unknown,
            Self::ReturnsFreshKey => {
                let command = failure.command.take();
                failure.command = command.map(|it| with_fresh_key(stage, &it).into());
            }
            _ => {}
        }
        failure
    }
}

/// Runs a call with the faults of the SDK of this simulation. `time` is what the call has until its deadline.
pub(super) async fn call<R>(
    stage: &Stage,
    time: Duration,
    call: impl Future<Output = Result<R, Error>>,
) -> Result<R, Failure> {
    let (sdk, began) = (stage.sdk, Instant::now());
    if sdk == Sdk::RejectsAll {
        return Err(Failure {
            effect: Effect::Refused,
            kind: ErrorKind::Rejected,
            tokenless: false,
            attempts: 0,
            retry_after: None,
            command: None,
        });
    }
    let _turn = match sdk {
        Sdk::OneAtATime | Sdk::TenAtATime => Some(stage.turns.acquire().await),
        _ => None,
    };
    let mut call = pin!(call);
    // A call that is polled without end, and never waits, takes all steps.
    let result = poll_fn(|context| {
        if stage.step() {
            call.as_mut().poll(context)
        } else {
            Poll::Pending
        }
    });
    let result = result.await;
    if sdk == Sdk::HoldsResponses && result.is_ok() {
        sleep_until(began + time).await;
    }
    result.map_err(|error| sdk.report(stage, error))
}

/// The command that an error returned, as the SDK of this simulation resends it.
pub(super) fn resent(stage: &Stage, command: PreparedCommand) -> PreparedCommand {
    match stage.sdk {
        Sdk::FreshKey => with_fresh_key(stage, &command),
        _ => command,
    }
}

fn with_fresh_key(stage: &Stage, command: &PreparedCommand) -> PreparedCommand {
    let mut stored = serde_json::to_value(command).expect("a command is JSON");
    if stored["idempotencyKey"].is_string() {
        stored["idempotencyKey"] = format!("a-fresh-key-{:04}", stage.next(Number::Command)).into();
        stored["digest"] = command_digest(&stored).into();
    }
    serde_json::from_value(stored).expect("it is still one")
}

/// The network, as the SDK of a simulation uses it.
#[derive(Clone)]
pub(super) struct Wire {
    network: Network,
    sdk: Sdk,
    seen: Arc<Mutex<Seen>>,
}

/// The requests that a broken SDK has seen, by suite and host.
#[derive(Default)]
struct Seen {
    tokens: HashMap<String, HeaderValue>,
    exchanges: HashMap<String, (http::request::Parts, Bytes)>,
    /// Each once.
    tenants: Vec<HeaderValue>,
}

impl Wire {
    pub(super) fn new(network: &Network, sdk: Sdk) -> Self {
        Self {
            network: network.clone(),
            sdk,
            seen: Arc::default(),
        }
    }

    async fn carry(
        self,
        mut request: Request<RequestBody>,
    ) -> Result<Response<Arriving>, BoxError> {
        let is_exchange = request.uri().path() == "/oauth/token";
        match self.sdk {
            Sdk::RenewsAlways => request = self.renew(request, is_exchange).await?,
            Sdk::DeadToken | Sdk::ForeignHeader if !is_exchange => {
                self.replace_header(&mut request);
            }
            Sdk::RetriesUnkeyed if !is_exchange && may_not_repeat(&request) => {
                let (head, body) = request.into_parts();
                let body = body.into_bytes()?;
                let request = || Request::from_parts(head.clone(), body.clone().into());
                let first = self.network.clone().carry(request()).await;
                return match first {
                    Ok(response) if !response.status().is_server_error() => Ok(response),
                    _ => self.network.carry(request()).await,
                };
            }
            _ => {}
        }
        let later = request
            .uri()
            .query()
            .is_some_and(|it| it.contains("cursor="));
        let sent = self.network.carry(request).await;
        match self.sdk {
            Sdk::LostAsNotSent => sent.map_err(|error| TransportError::not_sent(error).into()),
            Sdk::EndsEarly if later => sent.map(|it| {
                changed(it, |page| {
                    page["nextCursor"] = Value::Null;
                })
            }),
            Sdk::RepeatsItem => sent.map(|it| {
                changed(it, |page| {
                    if let Some(items) = page["items"].as_array_mut() {
                        items.extend(items.first().cloned());
                    }
                })
            }),
            _ => sent,
        }
    }

    /// Repeats the last exchange for the application of a request.
    async fn renew(
        &self,
        request: Request<RequestBody>,
        is_exchange: bool,
    ) -> Result<Request<RequestBody>, BoxError> {
        let (head, body) = request.into_parts();
        let mut place = place(&head.headers, head.uri.host());
        if !is_exchange {
            let exchange = locked(&self.seen).exchanges.get(&place).cloned();
            if let Some((head, body)) = exchange {
                let again = Request::from_parts(head, body.into());
                drop(self.network.clone().carry(again).await);
            }
            return Ok(Request::from_parts(head, body));
        }
        let body = body.into_bytes()?;
        let form = String::from_utf8_lossy(&body);
        let app = form.split("audience=https%3A%2F%2F").nth(1);
        let app = app.and_then(|it| it.split('.').next()).unwrap_or_default();
        place = place.replace(" core.", &format!(" {app}."));
        locked(&self.seen)
            .exchanges
            .insert(place, (head.clone(), body.clone()));
        Ok(Request::from_parts(head, body.into()))
    }

    /// Replaces a header by another that was seen before.
    fn replace_header(&self, request: &mut Request<RequestBody>) {
        let place = place(request.headers(), request.uri().host());
        let mut seen = locked(&self.seen);
        let headers = request.headers_mut();
        if self.sdk == Sdk::DeadToken {
            if let Some(token) = headers.get_mut(AUTHORIZATION) {
                let first = seen.tokens.entry(place).or_insert_with(|| token.clone());
                *token = first.clone();
            }
        } else if let Some(tenant) = headers.get_mut(TENANT) {
            if !seen.tenants.contains(tenant) {
                seen.tenants.push(tenant.clone());
            }
            let other = seen.tenants.iter().find(|it| *it != tenant);
            *tenant = other.cloned().unwrap_or_else(|| tenant.clone());
        }
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
        Box::pin(self.clone().carry(request))
    }
}

fn may_not_repeat(request: &Request<RequestBody>) -> bool {
    request.method() == Method::POST && !request.headers().contains_key(KEY)
}

/// The suite and the host of a request.
fn place(headers: &HeaderMap, host: Option<&str>) -> String {
    let suite = headers.get(USER_AGENT).and_then(|it| it.to_str().ok());
    let suite = suite.and_then(|it| it.split(' ').next());
    format!("{} {}", suite.unwrap_or_default(), host.unwrap_or_default())
}

/// Changes a response whose body is a page.
fn changed(
    mut response: Response<Arriving>,
    change: impl FnOnce(&mut Value),
) -> Response<Arriving> {
    let mut is_page = false;
    response.body_mut().change(|body| {
        let mut page = json(body);
        is_page = page["items"].is_array();
        if !is_page {
            return Bytes::copy_from_slice(body);
        }
        change(&mut page);
        page.to_string().into()
    });
    if is_page {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}
