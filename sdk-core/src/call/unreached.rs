//! Attempts that got no reply, and what is known of their request.

use crate::call::progress::Progress;
use crate::call::verdict::{Verdict, fail};
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::transport::cause;

/// What time was up, and how long it was.
fn time_was_up(whole_call: bool, progress: &Progress<'_>) -> String {
    let limits = progress.limits;
    if whole_call {
        format!(
            "the deadline of the call passed, {:?} after it began",
            limits.total
        )
    } else {
        format!("the attempt timed out after {:?}", limits.attempt_timeout)
    }
}

/// A reply began and did not end.
pub(super) fn late_body(whole_call: bool, progress: &Progress<'_>) -> Error {
    let (what, target) = (time_was_up(whole_call, progress), target(progress));
    let message = format!("{what} while {target} was sending its reply");
    Error::timeout(message)
}

/// The time was up before a reply came.
pub(super) fn timed_out(whole_call: bool, never_begun: bool, progress: &Progress<'_>) -> Verdict {
    let (what, target) = (time_was_up(whole_call, progress), target(progress));
    let (message, effect, again) = if never_begun {
        let message = format!("{what} before a connection to {target} stood");
        (message, Effect::NotSent, true)
    } else {
        let message = format!("{what} without a reply from {target}");
        (message, Effect::Unknown, progress.may_replay)
    };
    let error = Error::timeout(message).with_effect(effect);
    fail(error, again && !whole_call)
}

/// No reply at all.
pub(super) fn failed(error: reqwest::Error, progress: &Progress<'_>) -> Verdict {
    if error.is_builder() {
        return fail(
            Error::new(ErrorKind::InvalidInput, "the request cannot be built").with_cause(error),
            false,
        );
    }
    if error.is_connect() {
        let tls = cause::is_tls(&error);
        let what = if tls {
            "the TLS handshake failed with"
        } else {
            "no connection to"
        };
        // The innermost error of one that took too long says no more than that.
        let why = if error.is_timeout() {
            let most = progress.client.suite().clients.connect_timeout();
            format!("it did not stand within {most:?}")
        } else {
            cause::root(&error).to_string()
        };
        let message = format!("{what} {}: {why}", target(progress));
        // Nothing was sent, so every operation may be tried again; a certificate does not change by trying.
        return fail(
            Error::new(ErrorKind::Connect, message)
                .with_cause(error)
                .with_retryable(!tls),
            !tls,
        );
    }
    let timeout = error.is_timeout();
    let kind = if timeout {
        ErrorKind::Timeout
    } else {
        ErrorKind::Transport
    };
    let message = format!(
        "no reply came from {}: {}",
        target(progress),
        cause::root(&error)
    );
    fail(
        Error::new(kind, message)
            .with_cause(error)
            .with_effect(Effect::Unknown)
            .with_retryable(true),
        progress.may_replay,
    )
}

fn target(progress: &Progress<'_>) -> String {
    let endpoint = progress.client.endpoint();
    cause::target(endpoint.url(), endpoint.proxy())
}
