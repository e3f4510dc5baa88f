//! What every request of the SDK must look like, whatever the operation.

use sdk_core::Safety;
use sdk_reference_server::{Operation, RecordedRequest};

/// Holds all requests for an operation against its row in the table.
pub(super) fn check(row: &sdk_core::Operation, seen: &[RecordedRequest]) {
    assert!(!seen.is_empty(), "the server saw no {}", row.id);
    for request in seen {
        check_one(row, request);
    }
}

fn check_one(row: &sdk_core::Operation, request: &RecordedRequest) {
    let id = row.id;
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

/// All traffic is JSON, except the token exchange, which is form-encoded.
fn media_type(row: &sdk_core::Operation) -> Option<&'static str> {
    match (row.body, row.id == Operation::ExchangeToken.id()) {
        (false, _) => None,
        (true, false) => Some("application/json"),
        (true, true) => Some("application/x-www-form-urlencoded"),
    }
}

/// Whether a path is one of the template's.
fn follows(path: &str, template: &str) -> bool {
    let (path, template) = (path.split('/'), template.split('/'));
    path.clone().count() == template.clone().count()
        && path
            .zip(template)
            .all(|(segment, wanted)| wanted.starts_with('{') || segment == wanted)
}
