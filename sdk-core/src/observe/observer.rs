//! The observer trait, and the headers that observers add.

use http::HeaderMap;
use http::header::Entry;

use crate::error::Error;
use crate::macros::debug_fields;
use crate::observe::events::{
    AttemptEnded, CallEnded, ObservedAttempt, ObservedCall, Renewal, Retry, RetryDenied, Wait,
};
use crate::options::parse_header;

/// Receives events of calls, attempts, waits, retries and token renewals. Set it with
/// [`SuiteBuilder::observer`](crate::SuiteBuilder::observer).
///
/// By default, each method does nothing. The SDK calls them in the caller's task, when the event happens. They should
/// be quick and must not block. If an observer panics, the SDK catches the panic and reports it as an event, and the
/// call continues. In a program that is built to abort on panics, the program aborts.
///
/// No event contains a secret, a header, a body, a query or a key. See [the guide](crate::guide::observability) for
/// logging each call and propagating a trace.
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

    /// A call ended, with a result or because its caller dropped it. Called exactly once for each call that began.
    fn call_ended(&self, ended: &CallEnded<'_>) {
        let _ = ended;
    }

    /// An attempt begins. The observer can add extra headers, such as trace headers. The method runs within the
    /// attempt's span.
    ///
    /// A token request is also an attempt, but without a call.
    fn attempt_started(&self, attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        let _ = (attempt, headers);
    }

    /// An attempt ended, or was dropped with its call. Called exactly once for each attempt that began.
    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        let _ = ended;
    }

    /// A wait ended, or was dropped with its call.
    fn waited(&self, wait: &Wait<'_>) {
        let _ = wait;
    }

    /// An attempt failed, and the call is retried.
    fn retrying(&self, retry: &Retry<'_>) {
        let _ = retry;
    }

    /// An attempt failed. A retry would have been safe and useful, but was denied.
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
/// An observer can add the same headers that a caller may set on a call, except conditions and ranges, which would
/// change the response. It can't add the SDK's own headers, such as `Authorization` and `Idempotency-Key`. All these
/// headers, and invalid headers, are ignored with a warning event. A header that the caller, a stored command or an
/// earlier observer has already set is ignored without a warning.
///
/// Prepared commands never contain these headers, so every attempt gets new values, even if a stored command is resent.
/// Errors and events may contain the values if a server repeats them, so they must not be secret.
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
                "not be set by an observer, because it changes the response",
                "a value",
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
                "an observer's header was ignored"
            ),
        }
    }
}

// The values come from the caller and may be secret.
debug_fields! { ExtraHeaders<'a> |it| names: it.headers.keys().collect::<Vec<_>>(), count: it.count }
