//! Checks for every call of a scenario: against the operation table, the requests and the server's records.

use sdk_core::{Effect, Error, ErrorKind, IdempotencyKey, Response, Safety};
use sdk_reference_server::{App, Operation, RecordedRequest};

use super::setup::Setup;

/// Checks the single, successful call of an operation.
pub(super) fn succeeded<T>(setup: &Setup, operation: Operation, got: &Response<T>) {
    let (id, row) = (operation.id(), row(operation));
    let seen = setup.server.requests_for(operation);
    check_requests(row, &seen);
    assert_eq!(got.api_operation().id, id);
    assert_eq!(u64::from(got.attempts()), setup.server.attempts(operation));
    let (last, status) = (seen.last().unwrap(), got.http_status());
    assert_eq!(Some(status), last.status, "{id}");
    assert_eq!(got.request_id(), Some(&*request_id(last)), "{id}");
    assert!(row.statuses.contains(&status), "{id}: {status}");
    let commits = u64::from(is_command(row));
    assert_eq!(setup.server.commits(operation), commits, "{id}: commits");
    let exchanges = u64::from(row.authenticated || operation == Operation::ExchangeToken);
    assert_eq!(setup.server.exchanges(), exchanges, "{id}: exchanges");
}

/// Checks an expected failure: documented, with this code and message prefix, and final.
pub(super) fn refused(
    setup: &Setup,
    operation: Operation,
    error: &Error,
    (status, code, message): (u16, &str, &str),
) {
    let documented = is_documented(row(operation), status);
    assert!(documented, "{}: {status}", operation.id());
    failed(setup, operation, error, status);
    assert_eq!(error.attempts(), 1, "{error}");
    assert_code(operation, error, code);
    // Only the Calendar has a code for a key that was used for another command.
    assert!(!error.is_idempotency_conflict(), "{error}");
    assert!(error.message().starts_with(message), "{error}");
}

/// Checks the code of an error. The Calendar writes its codes in capitals.
pub(super) fn assert_code(operation: Operation, error: &Error, code: &str) {
    let code = match operation.app() {
        App::Calendar => code.to_uppercase(),
        _ => code.to_owned(),
    };
    assert_eq!(error.code(), Some(&*code), "{error}");
}

/// Checks the last call of an operation, which failed with a status. Earlier calls succeeded.
pub(super) fn failed(setup: &Setup, operation: Operation, error: &Error, status: u16) {
    let (id, row) = (operation.id(), row(operation));
    let seen = setup.server.requests_for(operation);
    let succeeded = |seen: &RecordedRequest| seen.status.is_some_and(|status| status < 300);
    let before = seen.iter().rposition(succeeded).map_or(0, |last| last + 1);
    check_requests(row, &seen[before..]);
    let last = seen.last().unwrap();
    assert_eq!(last.status, Some(status), "{id}: {error}");

    let (kind, effect, retryable) = meaning(status);
    assert_eq!(error.operation().map(|row| row.id), Some(id));
    assert_eq!(error.status(), Some(status), "{id}: {error}");
    assert_eq!(error.kind(), kind, "{id}: {error}");
    assert_eq!(error.effect(), effect, "{id}: {error}");
    assert_eq!(error.is_retryable(), retryable, "{id}: {error}");
    assert_eq!(error.is_unauthenticated(), status == 401);
    assert_eq!(error.is_forbidden(), status == 403);
    assert_eq!(error.is_not_found(), status == 404);
    assert_eq!(error.is_conflict(), status == 409);
    assert_eq!(error.is_unavailable(), status == 503);
    assert_eq!(error.request_id(), Some(&*request_id(last)), "{id}");
    assert!(!error.body().unwrap().is_empty(), "{id}");
    let line = error.to_string();
    let begins = format!("{}.{id}: {status} {kind}", row.application);
    assert!(line.starts_with(&begins), "{line}");
    assert!(!line.contains('\n'), "{line}");

    let attempts = seen.len() - before;
    assert_eq!(error.attempts() as usize, attempts, "{id}: attempts");
    let key = error.idempotency_key().map(IdempotencyKey::as_str);
    assert_eq!(key, last.idempotency_key(), "{id}: key");
    // A command that may have been applied can be resent. A rejected command doesn't need a resend.
    let replayable = is_command(row) && effect == Effect::Unknown;
    assert_eq!(error.command().is_some(), replayable, "{id}: {line}");
    let commits = if is_command(row) { before as u64 } else { 0 };
    assert_eq!(setup.server.commits(operation), commits, "{id}: commits");
}

/// Compares all requests for an operation with its row in the table.
pub(super) fn check_requests(row: &sdk_core::Operation, seen: &[RecordedRequest]) {
    let id = row.id;
    assert!(!seen.is_empty(), "the server received no {id}");
    for request in seen {
        assert_eq!(request.app.id(), row.application.name(), "{id}");
        assert_eq!(request.method, row.method.as_str(), "{id}");
        assert!(follows(&request.path, row.route), "{id}: {}", request.path);
        assert_eq!(request.header("accept"), Some("application/json"), "{id}");
        let agent = request.header("user-agent").unwrap_or_default();
        assert!(agent.starts_with("suite-sdk-rust/"), "{id}: {agent}");

        let authorization = request.header("authorization");
        assert_eq!(authorization.is_some(), row.authenticated, "{id}");
        let content_type = request.header("content-type");
        assert_eq!(content_type, media_type(row), "{id}");
        assert_eq!(request.body().is_empty(), !row.body, "{id}");
        let keyed = row.safety == Safety::Keyed;
        assert_eq!(request.idempotency_key().is_some(), keyed, "{id}");
    }
}

/// Returns the media type of request bodies, which is JSON except for the form-encoded token exchange.
fn media_type(row: &sdk_core::Operation) -> Option<&'static str> {
    match (row.body, row.id == Operation::ExchangeToken.id()) {
        (false, _) => None,
        (true, false) => Some("application/json"),
        (true, true) => Some("application/x-www-form-urlencoded"),
    }
}

fn follows(path: &str, template: &str) -> bool {
    let (path, template) = (path.split('/'), template.split('/'));
    path.clone().count() == template.clone().count()
        && path
            .zip(template)
            .all(|(segment, wanted)| wanted.starts_with('{') || segment == wanted)
}

pub(super) fn row(operation: Operation) -> &'static sdk_core::Operation {
    let found = table().find(|row| row.id == operation.id());
    found.unwrap_or_else(|| panic!("no client has {}", operation.id()))
}

/// Returns the rows of the four clients' tables.
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

/// Whether the contract lists the status. If it lists no errors, the statuses with a general meaning count.
fn is_documented(row: &sdk_core::Operation, status: u16) -> bool {
    if row.statuses.iter().any(|status| *status >= 400) {
        return row.statuses.contains(&status);
    }
    [400, 401, 403, 404, 409, 422, 503].contains(&status)
}

/// Returns the contract's meaning of a status as kind, effect and retryability.
fn meaning(status: u16) -> (ErrorKind, Effect, bool) {
    let kind = match status {
        400 | 422 => ErrorKind::Rejected,
        401 => ErrorKind::Unauthenticated,
        403 => ErrorKind::Forbidden,
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        503 => return (ErrorKind::Unavailable, Effect::Unknown, true),
        _ => panic!("the contract does not document {status}"),
    };
    (kind, Effect::Refused, false)
}

/// Returns whether the operation changes stored data. A token exchange doesn't.
pub(super) fn is_command(row: &sdk_core::Operation) -> bool {
    row.safety != Safety::Read && row.id != Operation::ExchangeToken.id()
}

fn request_id(seen: &RecordedRequest) -> String {
    format!("req-{:08}", seen.number)
}
