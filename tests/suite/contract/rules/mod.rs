//! Each bound, pattern, enumeration and exclusion, on both sides.

mod imports;
mod invoices;
mod keys;
mod lists;
mod paths;
mod requests;
mod window;

use sdk_core::Error;

use super::both::assert_refused_locally;
use super::world::World;

/// The SDK sends nothing, not even a request for a token, and the error names parameter, rule and value.
pub(super) async fn refuses<T>(
    world: &World,
    call: impl IntoFuture<Output = Result<T, Error>>,
    why: &str,
) {
    let before = world.server.requests().len();
    let Err(error) = call.await else {
        panic!("the SDK sent a request that breaks a rule: {why}");
    };
    assert_refused_locally(&error, why);
    let operation = error.operation().expect("the error names the operation");
    let line = format!("{}.{}: {why}", operation.application, operation.id);
    assert_eq!(error.to_string(), line);
    assert_eq!(world.server.requests().len(), before, "{why}");
}
