//! The two cases of an operation: it succeeds, and it fails with a status that the contract knows.
//!
//! A scenario makes the call, checks what is particular about it, and hands over what the caller got. The runner holds
//! that against the operation table and against what the server recorded, so that a case cannot be about another
//! operation than the one that it stands for.

use sdk_core::{Effect, Error, ErrorKind, Response, Safety};
use sdk_reference_server::{Operation, RecordedRequest};

use super::wire;
use super::world::World;

/// Makes the two tests of each operation, and lists the operations in `COVERED`.
macro_rules! operations {
    ($( $operation:ident => $succeeds:ident, $fails:ident; )+) => {
        pub(in crate::contract) const COVERED: &[sdk_reference_server::Operation] =
            &[$( sdk_reference_server::Operation::$operation ),+];

        mod succeeds {
            $(
                #[tokio::test]
                async fn $succeeds() {
                    let operation = sdk_reference_server::Operation::$operation;
                    crate::contract::case::succeeds(operation, super::$succeeds).await;
                }
            )+
        }

        mod fails {
            $(
                #[tokio::test]
                async fn $fails() {
                    let operation = sdk_reference_server::Operation::$operation;
                    crate::contract::case::fails(operation, super::$fails).await;
                }
            )+
        }
    };
}

pub(super) use operations;

/// What the caller of a call that succeeded got besides the value.
pub(super) struct Done {
    operation: &'static str,
    status: u16,
    request_id: Option<String>,
    attempts: u32,
}

impl Done {
    pub(super) fn of<T>(response: &Response<T>) -> Done {
        Done {
            operation: response.api_operation().id,
            status: response.http_status(),
            request_id: response.request_id().map(str::to_owned),
            attempts: response.attempts(),
        }
    }
}

/// Runs the scenario of a single call that succeeds.
pub(super) async fn succeeds(operation: Operation, scenario: impl AsyncFnOnce(&World) -> Done) {
    let world = World::start().await;

    let done = scenario(&world).await;

    let (id, row) = (operation.id(), row(operation));
    let seen = world.server.requests_for(operation);
    wire::check(row, &seen);
    assert_eq!(done.operation, id);
    assert_eq!(u64::from(done.attempts), world.server.attempts(operation));
    let last = seen.last().unwrap();
    assert_eq!(Some(done.status), last.status, "{id}");
    assert_eq!(done.request_id, Some(request_id(last)), "{id}");
    assert!(row.statuses.contains(&done.status), "{id}: {}", done.status);
    let commits = u64::from(is_command(row));
    assert_eq!(world.server.commits(operation), commits, "{id}: commits");
}

/// Runs a scenario whose last call of the operation fails, and those before it, if any, do not.
pub(super) async fn fails(operation: Operation, scenario: impl AsyncFnOnce(&World) -> Error) {
    let world = World::start().await;

    let error = scenario(&world).await;

    let (id, row) = (operation.id(), row(operation));
    let seen = world.server.requests_for(operation);
    wire::check(row, &seen);
    let last = seen.last().unwrap();
    let status = last.status.unwrap();
    assert!(is_documented(row, status), "{id}: {status}");

    let (kind, effect, retryable) = meaning(status);
    assert_eq!(error.operation().map(|row| row.id), Some(id));
    assert_eq!(error.status(), Some(status), "{id}: {error}");
    assert_eq!(error.kind(), kind, "{id}: {error}");
    assert_eq!(error.effect(), effect, "{id}: {error}");
    assert_eq!(error.retryable(), retryable, "{id}: {error}");
    assert_eq!(error.request_id(), Some(&*request_id(last)), "{id}");
    assert!(!error.body().unwrap().is_empty(), "{id}");
    let line = error.to_string();
    let begins = format!("{}.{id}: {status} {kind}", row.application);
    assert!(line.starts_with(&begins), "{line}");
    assert!(!line.contains('\n'), "{line}");

    let attempts = seen
        .iter()
        .rev()
        .take_while(|seen| !went_well(seen))
        .count();
    assert_eq!(error.attempts() as usize, attempts, "{id}: attempts");
    let key = error
        .idempotency_key()
        .map(sdk_core::IdempotencyKey::as_str);
    assert_eq!(key, last.idempotency_key(), "{id}: key");
    // A command that may have happened can be sent again; one that was refused has no need of it.
    let replayable = is_command(row) && effect == Effect::Unknown;
    assert_eq!(error.command().is_some(), replayable, "{id}: {line}");
    let commits = if is_command(row) {
        seen.len() - attempts
    } else {
        0
    };
    assert_eq!(
        world.server.commits(operation),
        commits as u64,
        "{id}: commits"
    );
}

/// The row of an operation in the tables of the four clients.
pub(super) fn row(operation: Operation) -> &'static sdk_core::Operation {
    let found = table().find(|row| row.id == operation.id());
    found.unwrap_or_else(|| panic!("no client has {}", operation.id()))
}

/// The tables of the four clients.
pub(super) fn table() -> impl Iterator<Item = &'static sdk_core::Operation> {
    [
        sdk_crm::Client::operations(),
        sdk_calendar::Client::operations(),
        sdk_accounting::Client::operations(),
        sdk_platform::Client::operations(),
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The errors that the contract lists for the operation; where it lists none, those whose meaning it gives.
fn is_documented(row: &sdk_core::Operation, status: u16) -> bool {
    if row.statuses.iter().any(|status| *status >= 400) {
        return row.statuses.contains(&status);
    }
    [400, 401, 403, 404, 409, 422, 503].contains(&status)
}

/// The contract's meaning of a status, in the terms of the SDK.
fn meaning(status: u16) -> (ErrorKind, Effect, bool) {
    let kind = match status {
        400 | 422 => ErrorKind::Rejected,
        401 => ErrorKind::Unauthenticated,
        403 => ErrorKind::Forbidden,
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        503 => return (ErrorKind::Unavailable, Effect::Unknown, true),
        _ => panic!("the contract does not know {status}"),
    };
    (kind, Effect::Refused, false)
}

/// Whether the operation changes something durable; a token is no such thing.
fn is_command(row: &sdk_core::Operation) -> bool {
    row.safety != Safety::Read && row.id != Operation::ExchangeToken.id()
}

fn went_well(seen: &RecordedRequest) -> bool {
    seen.status.is_some_and(|status| status < 300)
}

fn request_id(seen: &RecordedRequest) -> String {
    format!("req-{:08}", seen.number)
}
