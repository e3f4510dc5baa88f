//! Tests `classify` for every status, safety and kind of body: the effect of each attempt, and whether it is retried.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use tower_service::Service;
use url::Url;

use crate::app::App;
use crate::call::Call;
use crate::call::attempt::{AttemptOutcome, AttemptResult, CallState};
use crate::call::classify::classify;
use crate::client::ApiClient;
use crate::error::kind::Effect;
use crate::operation::{Application, Operation, RawOperations, Safety};
use crate::options::ExactReplay;
use crate::reply::decode::receive;
use crate::request::draft::Draft;
use crate::suite::Suite;
use crate::token::credentials::ClientCredentials;
use crate::transport::RequestBody;
use crate::transport::error::{SendState, TransportError};
use crate::transport::reply_body::BodyError;

const RAW: RawOperations = RawOperations::of(App::Crm);

static APPLICATION: Application = Application {
    app: App::Crm,
    title: "CRM",
    contract_version: "1",
    statuses: &[],
    documents_envelope: false,
    metadata: None,
    metadata_members: &[],
    operations: &[],
    raw: RAW,
};

const fn operation(safety: Safety) -> Operation {
    Operation {
        id: "test",
        safety,
        secret_response: false,
        authenticated: false,
        statuses: &[200],
        ..RAW.command
    }
}

static READ: Operation = operation(Safety::Read);
static KEYED: Operation = operation(Safety::Keyed);
static IDEMPOTENT: Operation = operation(Safety::Idempotent);
static UNKEYED: Operation = operation(Safety::Unkeyed);

/// Each safety, and whether an attempt with an unknown effect may be retried: by default, if the caller allows it, and
/// if the caller forbids it.
static SAFETIES: [(&Operation, [bool; 3]); 4] = [
    (&READ, [true, true, true]),
    (&KEYED, [true, true, true]),
    (&IDEMPOTENT, [true, true, false]),
    (&UNKEYED, [false, true, false]),
];

const REPLAYS: [Option<ExactReplay>; 3] = [
    None,
    Some(ExactReplay::Allowed),
    Some(ExactReplay::Forbidden),
];

/// Sends nothing, because the tests construct the outcomes.
#[derive(Clone)]
struct Nowhere;

impl Service<Request<RequestBody>> for Nowhere {
    type Response = Response<http_body_util::Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: Request<RequestBody>) -> Self::Future {
        ready(Ok(Response::default()))
    }
}

fn client() -> ApiClient {
    let suite = Suite::builder()
        .transport(Nowhere)
        .application_url(App::Crm, "https://crm.suite.test")
        .token_url("https://suite.test/oauth/token")
        .credentials(ClientCredentials::new("client", "secret"));
    ApiClient::new(&suite.build().unwrap(), &APPLICATION).unwrap()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Retry {
    /// For every operation, because nothing was applied.
    Always,
    /// Only if a retry is safe, because something may have been applied.
    IfSafe,
    Never,
}

/// Returns the effect and the retry of an outcome, which must be the same for each operation; `None` for success.
fn classified(client: &ApiClient, outcome: impl Fn() -> AttemptOutcome) -> Option<(Effect, Retry)> {
    let mut results = Vec::new();
    for (operation, may_replay) in &SAFETIES {
        for (replay, may_replay) in REPLAYS.into_iter().zip(may_replay) {
            let mut call = Call::new(client, operation);
            call.options.exact_replay = replay;
            let url = Url::parse("https://crm.suite.test/test").unwrap();
            let mut draft = Draft::new(operation.method, url);
            let limits = client.limits(&call.options);
            let state = CallState::new(&call, &mut draft, &limits);
            let result = classify(outcome(), false, &state, &mut |head, body, redact| {
                let (_, mismatch) =
                    receive::<crate::RawJson>(head, body, call.decode_rules(&limits), redact)?;
                Ok(mismatch)
            });
            results.push(match result {
                AttemptResult::Done(_) => None,
                AttemptResult::RefreshToken(error) => panic!("without a token: {error}"),
                AttemptResult::Failed { error, retry, .. } => {
                    Some((error.effect(), retry, *may_replay))
                }
            });
        }
    }
    let effects: Vec<_> = results
        .iter()
        .map(|it| it.map(|(effect, ..)| effect))
        .collect();
    assert!(effects.iter().all(|it| *it == effects[0]), "{results:?}");
    let effect = effects[0]?;
    let all = |expected: fn(bool) -> bool| {
        let mut results = results.iter().flatten();
        results.all(|(_, retry, may_replay)| *retry == expected(*may_replay))
    };
    let retry = if all(|_| true) {
        Retry::Always
    } else if all(|_| false) {
        Retry::Never
    } else if all(|may_replay| may_replay) {
        Retry::IfSafe
    } else {
        panic!("{results:?}")
    };
    Some((effect, retry))
}

type Body = fn() -> Result<Bytes, BodyError>;

const BODIES: [(&str, Body); 7] = [
    ("json", || Ok(Bytes::from_static(b"{\"a\":1}"))),
    ("html", || Ok(Bytes::from_static(b"<html>"))),
    ("truncated", || Ok(Bytes::from_static(b"{\"a\":"))),
    ("cut off", || {
        Err(BodyError::Broken(TransportError::unknown("reset")))
    }),
    ("late", || Err(BodyError::Late)),
    ("too large", || {
        Err(BodyError::TooLarge(Bytes::from_static(b"{")))
    }),
    ("compressed", || Err(BodyError::Encoded("br".to_owned()))),
];

fn response(status: u16, body: Body) -> AttemptOutcome {
    AttemptOutcome::Reply {
        status,
        version: Version::HTTP_11,
        headers: HeaderMap::new(),
        body: body(),
    }
}

#[test]
fn a_2xx_is_classified_by_its_body() {
    let client = client();
    for status in 200..300 {
        for (body, make) in BODIES {
            let expected = match body {
                "json" => None,
                "html" | "too large" | "compressed" => Some((Effect::Unknown, Retry::Never)),
                "truncated" | "cut off" | "late" => Some((Effect::Unknown, Retry::IfSafe)),
                _ => unreachable!(),
            };
            let actual = classified(&client, || response(status, make));
            assert_eq!(actual, expected, "{status} {body}");
        }
    }
}

#[test]
fn any_other_response_is_classified_by_its_status() {
    let client = client();
    for status in (100..200).chain(300..1000) {
        let expected = match status {
            408 | 429 => (Effect::Refused, Retry::IfSafe),
            400..=499 => (Effect::Refused, Retry::Never),
            501 | 505 => (Effect::Unknown, Retry::Never),
            500..=599 => (Effect::Unknown, Retry::IfSafe),
            _ => (Effect::Unknown, Retry::Never),
        };
        for (body, make) in BODIES {
            let actual = classified(&client, || response(status, make));
            assert_eq!(actual, Some(expected), "{status} {body}");
        }
    }
}

#[test]
fn a_missing_response_is_classified_by_its_send_state() {
    let client = client();
    let failed = |state| move || AttemptOutcome::Failed(TransportError::at(state, "no response"));
    for (state, expected) in [
        (SendState::Unsendable, (Effect::NotSent, Retry::Never)),
        (SendState::NotSent, (Effect::NotSent, Retry::Always)),
        (SendState::Unprocessed, (Effect::NotSent, Retry::Always)),
        (SendState::Unknown, (Effect::Unknown, Retry::IfSafe)),
        (SendState::Unspecified, (Effect::Unknown, Retry::IfSafe)),
        (SendState::Redirected, (Effect::Unknown, Retry::Never)),
    ] {
        assert_eq!(
            classified(&client, failed(state)),
            Some(expected),
            "{state:?}"
        );
    }
    for (not_sent, expected) in [
        (true, (Effect::NotSent, Retry::Always)),
        (false, (Effect::Unknown, Retry::IfSafe)),
    ] {
        let timed_out = move || AttemptOutcome::TimedOut { not_sent };
        assert_eq!(classified(&client, timed_out), Some(expected), "{not_sent}");
    }
}

/// The only result that depends on a header.
#[test]
fn retry_after_is_returned() {
    let client = client();
    let call = Call::new(&client, &READ);
    let url = Url::parse("https://crm.suite.test/test").unwrap();
    let (mut draft, limits) = (Draft::new(READ.method, url), client.limits(&call.options));
    let state = CallState::new(&call, &mut draft, &limits);
    let outcome = AttemptOutcome::Reply {
        status: 429,
        version: Version::HTTP_11,
        headers: HeaderMap::from_iter([(http::header::RETRY_AFTER, "7".parse().unwrap())]),
        body: Ok(Bytes::new()),
    };
    let result = classify(outcome, false, &state, &mut |_, _, _| unreachable!());
    let AttemptResult::Failed { retry_after, .. } = result else {
        panic!("the attempt must fail")
    };
    assert_eq!(retry_after, Some(Duration::from_secs(7)));
}
