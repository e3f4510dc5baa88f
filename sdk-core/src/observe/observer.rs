//! The trait of observers, and the headers that they add.

use http::HeaderMap;
use http::header::Entry;

use crate::error::Error;
use crate::macros::debug_fields;
use crate::observe::events::{
    AttemptEnded, CallEnded, ObservedAttempt, ObservedCall, Renewal, Retry, RetryDenied, Wait,
};
use crate::options::parse_header;

/// Receives events of calls, attempts, waits, retries and token renewals. Set one with [`SuiteBuilder::observer`](crate::SuiteBuilder::observer).
///
/// Each method does nothing unless it is implemented. They are called where the events happen, in the caller's task, so they
/// should be quick and must not block. If one panics, the panic is contained and reported as an event, and the call goes on;
/// in a program that is built to abort on panics, it aborts.
///
/// No event contains a secret, a header, a body, a query or a key. [The guide](crate::guide::observability) writes a line for each call
/// and passes a trace on.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use sdk_core::Observer;
/// use sdk_core::observe::{CallEnded, Outcome};
///
/// #[derive(Default)]
/// struct Failures(AtomicU64);
///
/// impl Observer for Failures {
///     fn call_ended(&self, ended: &CallEnded<'_>) {
///         if ended.outcome == Outcome::Error {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// # fn example(builder: sdk_core::SuiteBuilder) -> sdk_core::SuiteBuilder {
/// builder.observer(Failures::default())
/// # }
/// ```
pub trait Observer: Send + Sync + 'static {
    /// A call began.
    fn call_started(&self, call: &ObservedCall<'_>) {
        let _ = call;
    }

    /// A call ended, by its result or because its caller dropped it. For each call that began, exactly once.
    fn call_ended(&self, ended: &CallEnded<'_>) {
        let _ = ended;
    }

    /// An attempt begins, and may take extra headers along, such as those of a trace. It runs within the span of the attempt.
    ///
    /// A token exchange is an attempt too, without a call.
    fn attempt_started(&self, attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        let _ = (attempt, headers);
    }

    /// An attempt ended, or was dropped with its call. For each attempt that began, exactly once.
    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        let _ = ended;
    }

    /// A wait ended, or was dropped with its call.
    fn waited(&self, wait: &Wait<'_>) {
        let _ = wait;
    }

    /// An attempt failed, and another one follows.
    fn retrying(&self, retry: &Retry<'_>) {
        let _ = retry;
    }

    /// An attempt failed, and another one would have been safe and worthwhile, but was denied.
    fn retry_denied(&self, denied: &RetryDenied<'_>) {
        let _ = denied;
    }

    /// A token renewal ended.
    fn token_renewed(&self, renewal: &Renewal<'_>) {
        let _ = renewal;
    }
}

/// Collects the extra headers of an attempt.
///
/// It takes the headers that a caller may set on a call, except conditions and ranges, which would change its reply. It does
/// not take the headers of the SDK, such as `Authorization` and `Idempotency-Key`, nor one that the request already has from
/// the caller, from a stored command, or from an earlier observer. It ignores any other header, with a warning event unless the
/// request already has that header.
///
/// Prepared commands never contain these headers, so every attempt gets its own, also when a stored command is sent again.
/// If a server repeats their values, errors and events may show them, so a value must not be secret.
pub struct ExtraHeaders<'a> {
    headers: &'a mut HeaderMap,
    count: usize,
}

impl<'a> ExtraHeaders<'a> {
    pub(super) fn new(headers: &'a mut HeaderMap) -> Self {
        Self { headers, count: 0 }
    }

    /// Adds a header.
    pub fn add(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        let parsed = if name == "range" || name.starts_with("if-") {
            Err(Error::invalid(
                &format!("header {name}"),
                "not come from an observer, because it changes the reply",
                "one",
            ))
        } else {
            parse_header(&name, value, self.count)
        };
        match parsed {
            Ok((name, value)) => {
                if let Entry::Vacant(entry) = self.headers.entry(name) {
                    entry.insert(value);
                    self.count += 1;
                }
            }
            Err(error) => tracing::warn!(
                name: "suite.observer.header_dropped",
                error = %error,
                "an observer's header is left out"
            ),
        }
    }
}

// The values are the caller's, and may be secret.
debug_fields! { ExtraHeaders<'a> |it| names: it.headers.keys().collect::<Vec<_>>(), count: it.count }
