//! Each bound, pattern, enumeration and exclusion: the SDK never sends a request that violates the rule, and the error
//! names parameter, rule and value. The server's property tests show that the server rejects such requests too.

mod commands;
mod lists;
mod paths;
mod requests;
mod window;

use sdk_core::{Effect, Error, ErrorKind};

use super::setup::Setup;

/// Checks that a call sends nothing, not even a token request, and that the error names parameter, rule and value.
pub(super) async fn refuses<T>(
    setup: &Setup,
    call: impl IntoFuture<Output = Result<T, Error>>,
    why: &str,
) {
    let before = setup.server.requests().len();
    let Err(error) = call.await else {
        panic!("the SDK sent a request that violates a rule: {why}");
    };
    assert_refused_locally(&error, why);
    let operation = error.operation().expect("the error names the operation");
    let line = format!("{}.{}: {why}", operation.application, operation.id);
    assert_eq!(error.to_string(), line);
    assert_eq!(setup.server.requests().len(), before, "{why}");
}

/// Checks that an error was raised locally for this reason.
fn assert_refused_locally(error: &Error, why: &str) {
    assert_eq!(error.message(), why);
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{why}");
    assert!(error.is_invalid_input() && !error.is_retryable(), "{why}");
    assert_eq!(error.effect(), Effect::NotSent, "{why}");
    assert_eq!((error.attempts(), error.status()), (0, None), "{why}");
    let sent = error.request_id().is_some() || error.body().is_some();
    assert!(!sent, "{why}");
}
