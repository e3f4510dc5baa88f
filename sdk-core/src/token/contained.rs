//! Keeps a panic of the caller's code from taking a renewal along.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::token::error::{TokenError, TokenErrorKind};

/// Turns a panic into an error for all waiters, which says `what` panicked.
pub(super) async fn contained<T>(
    what: &str,
    answer: impl Future<Output = Result<T, TokenError>>,
) -> Result<T, TokenError> {
    let mut answer = pin!(answer);
    poll_fn(|context| {
        // Unwind safe: the future is not polled again, and only its author sees invariants that it broke.
        let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
        polled.unwrap_or_else(|_panic| {
            let error = TokenError::new(TokenErrorKind::Source);
            Poll::Ready(Err(error.with_description(format!("{what} panicked"))))
        })
    })
    .await
}
