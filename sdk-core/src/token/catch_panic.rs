//! Keeps a panic of the caller's code from taking a renewal along.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use crate::caught::unless_panicked;
use crate::token::error::{TokenError, TokenErrorKind};

/// Turns a panic into an error for all waiters, which says `what` panicked.
pub(super) async fn catch_panic<T>(
    what: &str,
    answer: impl Future<Output = Result<T, TokenError>>,
) -> Result<T, TokenError> {
    // Unwind safe: the future is not polled again, and only its author sees invariants that it broke.
    let answer = AssertUnwindSafe(answer).catch_unwind().await;
    unless_panicked(answer).unwrap_or_else(|| {
        let error = TokenError::new(TokenErrorKind::Source);
        Err(error.with_description(format!("{what} panicked")))
    })
}
