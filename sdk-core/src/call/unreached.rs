//! Attempts without a reply, and whether their request was sent.

use crate::call::progress::Progress;
use crate::call::verdict::{Verdict, fail};
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::transport::cause;

/// Which time limit passed, and how long it was.
fn time_was_up(whole_call: bool, progress: &Progress<'_>) -> String {
    let limits = progress.limits;
    if whole_call {
        format!("the deadline of the call passed after {:?}", limits.total)
    } else {
        format!("the attempt timed out after {:?}", limits.attempt_timeout)
    }
}

/// A reply began but did not end in time.
pub(super) fn late_body(whole_call: bool, progress: &Progress<'_>) -> Error {
    let (what, target) = (time_was_up(whole_call, progress), target(progress));
    let message = format!("{what} while {target} was sending its reply");
    Error::timeout(message)
}

/// No reply began in time.
pub(super) fn timed_out(whole_call: bool, never_begun: bool, progress: &Progress<'_>) -> Verdict {
    let (what, target) = (time_was_up(whole_call, progress), target(progress));
    let (message, effect, again) = if never_begun {
        let message = format!("{what} while connecting to {target}");
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
            Error::new(
                ErrorKind::InvalidInput,
                "the HTTP client cannot build the request",
            )
            .with_cause(error),
            false,
        );
    }
    if error.is_connect() {
        let tls = cause::is_tls(&error);
        // The root cause of a timeout does not say how long it was.
        let why = if error.is_timeout() {
            let most = progress.client.suite().clients.connect_timeout();
            format!("timed out after {most:?}")
        } else {
            cause::root(&error).to_string()
        };
        return unconnected(&why, tls, error, progress);
    }
    let kind = if error.is_timeout() {
        ErrorKind::Timeout
    } else {
        ErrorKind::Transport
    };
    lost(kind, error, progress)
}

/// No connection came up.
pub(super) fn unconnected(
    why: &str,
    tls: bool,
    cause: impl std::error::Error + Send + Sync + 'static,
    progress: &Progress<'_>,
) -> Verdict {
    let what = if tls {
        "TLS handshake failed with"
    } else {
        "cannot connect to"
    };
    let message = format!("{what} {}: {why}", target(progress));
    let error = Error::new(ErrorKind::Connect, message).with_cause(cause);
    // Nothing was sent, so every operation may be retried. A certificate does not change by retrying.
    fail(error.with_retryable(!tls), !tls)
}

/// The request may have been sent, and no reply began.
pub(super) fn lost(
    kind: ErrorKind,
    cause: impl std::error::Error + Send + Sync + 'static,
    progress: &Progress<'_>,
) -> Verdict {
    let message = format!(
        "no reply from {}: {}",
        target(progress),
        cause::root(&cause)
    );
    let error = Error::new(kind, message)
        .with_cause(cause)
        .with_effect(Effect::Unknown)
        .with_retryable(true);
    fail(error, progress.may_replay)
}

fn target(progress: &Progress<'_>) -> String {
    let endpoint = progress.client.endpoint();
    cause::target(endpoint.url(), endpoint.proxy())
}
