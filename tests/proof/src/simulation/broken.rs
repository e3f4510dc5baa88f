//! Intentionally broken SDKs: wrappers around the calls and the transport of the real SDK. The checker must reject each
//! of them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, USER_AGENT};
use http::{Method, Request, Response};
use sdk_core::transport::{RequestBody, TransportError};
use sdk_core::{Effect, Error, ErrorKind, PreparedCommand, testing};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::answer::{Arriving, json};
use super::call::Failure;
use super::network::{BoxError, KEY, Network};
use super::stage::{Number, Stage, locked};
use crate::fuzz::command_digest;

/// The SDK that a simulation runs. To add a broken SDK, add a variant here, a row in [`BROKEN`](Sdk::BROKEN), and a
/// branch in `call`, `report`, `resent` or `carry`, or in the code that builds the suite of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sdk {
    /// The real SDK.
    Correct,
    /// Sends nothing, and reports each call as `Refused`.
    RejectsAll,
    /// Reports each failure of an attempt as `Refused`.
    ReportsRefused,
    /// Reports each failure as `Unknown`.
    ReportsUnknown,
    /// Makes one attempt, unless the call sets its own policy.
    NeverRetries,
    /// Begins a call only after the previous call has ended.
    OneAtATime,
    /// Has at most ten calls in flight.
    TenAtATime,
    /// Resends a command with a new key.
    FreshKey,
    /// Returns errors whose command has a new key.
    ReturnsFreshKey,
    /// Resends a command without a key after a failure.
    RetriesUnkeyed,
    /// Ends a list after at most two pages.
    EndsEarly,
    /// Delivers the first item of each page twice.
    RepeatsItem,
    /// Treats each token as valid for one second.
    RenewsAlways,
    /// Never renews a token.
    DeadToken,
    /// Returns each result only at the deadline of its call.
    HoldsResponses,
    /// Reports each request without a response as not sent.
    LostAsNotSent,
    /// Sends the default header of another installation's client.
    ForeignHeader,
}

impl Sdk {
    /// Each broken SDK and the invariant that it violates.
    pub const BROKEN: &[(Self, &'static str)] = &[
        (Self::RejectsAll, "refused: the service rejected the call"),
        (
            Self::ReportsRefused,
            "refused: the service rejected the call",
        ),
        (
            Self::ReportsUnknown,
            "unknown: an attempt may have taken effect",
        ),
        (Self::NeverRetries, "a temporary failure is retried"),
        (Self::OneAtATime, "a call doesn't wait without a reason"),
        (Self::TenAtATime, "a call doesn't wait without a reason"),
        (Self::FreshKey, "a resend is the same command"),
        (
            Self::ReturnsFreshKey,
            "an error returns the command that was sent",
        ),
        (
            Self::RetriesUnkeyed,
            "a command without a key is resent only if it had no effect",
        ),
        (Self::EndsEarly, "a listing ends only after the last record"),
        (Self::RepeatsItem, "a listing delivers no record twice"),
        (Self::RenewsAlways, "one exchange per token"),
        (Self::DeadToken, "no expired token is sent"),
        (Self::HoldsResponses, "a call ends with its response"),
        (
            Self::LostAsNotSent,
            "not sent: the service received nothing",
        ),
        (Self::ForeignHeader, "headers stay in their installation"),
    ];

    fn report(self, stage: &Stage, error: Error) -> Failure {
        if stage.simulation.logged {
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

/// Runs a call with the errors of the simulation's SDK. `time` is the time until the call's deadline.
pub(super) async fn call<R>(
    stage: &Stage,
    time: Duration,
    call: impl Future<Output = Result<R, Error>>,
) -> Result<R, Failure> {
    let (sdk, began) = (stage.simulation.sdk, Instant::now());
    if sdk == Sdk::RejectsAll {
        let rejected = testing::error(ErrorKind::Rejected).effect(Effect::Refused);
        return Err(rejected.attempts(0).build().into());
    }
    let _turn = match sdk {
        Sdk::OneAtATime | Sdk::TenAtATime => Some(stage.turns.acquire().await),
        _ => None,
    };
    let mut call = pin!(call);
    // A call that is polled forever without waiting uses up all steps.
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

/// Returns the command to resend, as the simulation's SDK changes it.
pub(super) fn resent(stage: &Stage, command: PreparedCommand) -> PreparedCommand {
    match stage.simulation.sdk {
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
    serde_json::from_value(stored).expect("it is still a command")
}

/// Sends a request with the errors of the simulation's SDK.
pub(super) async fn carry(
    network: Network,
    mut request: Request<RequestBody>,
) -> Result<Response<Arriving>, BoxError> {
    let sdk = network.stage.simulation.sdk;
    let is_exchange = request.uri().path() == "/oauth/token";
    if sdk == Sdk::DeadToken && !is_exchange {
        let suite = request.headers().get(USER_AGENT);
        let place = format!("{suite:?} at {:?}", request.uri().host());
        if let Some(token) = request.headers_mut().get_mut(AUTHORIZATION) {
            let mut tokens = locked(&network.stage.first_tokens);
            *token = tokens.entry(place).or_insert(token.clone()).clone();
        }
    }
    if sdk == Sdk::RetriesUnkeyed && !is_exchange && may_not_repeat(&request) {
        let (head, body) = request.into_parts();
        let body = body.into_bytes()?;
        let request = || Request::from_parts(head.clone(), body.clone().into());
        return match network.clone().carry(request()).await {
            Ok(response) if !response.status().is_server_error() => Ok(response),
            _ => network.carry(request()).await,
        };
    }
    let query = request.uri().query().unwrap_or_default();
    let later = query.contains("cursor=");
    let sent = network.carry(request).await;
    match sdk {
        Sdk::LostAsNotSent => sent.map_err(|error| TransportError::not_sent(error).into()),
        Sdk::RenewsAlways => Ok(changed(sent?, "expires_in", |second| *second = 1.into())),
        Sdk::EndsEarly if later => Ok(changed(sent?, "nextCursor", |next| *next = Value::Null)),
        Sdk::RepeatsItem => Ok(changed(sent?, "items", |items| {
            if let Some(items) = items.as_array_mut() {
                items.extend(items.first().cloned());
            }
        })),
        _ => sent,
    }
}

fn may_not_repeat(request: &Request<RequestBody>) -> bool {
    request.method() == Method::POST && !request.headers().contains_key(KEY)
}

fn changed(
    mut response: Response<Arriving>,
    field: &str,
    change: impl FnOnce(&mut Value),
) -> Response<Arriving> {
    let is_changed = response.body_mut().change(|body| {
        let mut reply = json(body);
        change(reply.get_mut(field)?);
        Some(reply.to_string().into())
    });
    if is_changed {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}
