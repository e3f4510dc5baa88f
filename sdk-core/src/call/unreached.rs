//! Attempts that got no reply, and what is known of their request.

use super::classify::{Verdict, fail};
use super::progress::Progress;
use crate::cause;
use crate::error::{Effect, Error, ErrorKind};

/// The time was up.
pub(super) fn timed_out(whole_call: bool, never_begun: bool, progress: &Progress<'_>) -> Verdict {
    let what = if whole_call {
        "the deadline of the call passed"
    } else {
        "the attempt timed out"
    };
    let (message, effect, again) = if never_begun {
        let message = format!("{what} before a connection to {} stood", target(progress));
        (message, Effect::NotSent, true)
    } else {
        (what.to_owned(), Effect::Unknown, progress.may_replay)
    };
    let error = Error::new(ErrorKind::Timeout, message)
        .with_effect(effect)
        .with_retryable(true);
    fail(error, again && !whole_call)
}

/// No reply at all.
pub(super) fn failed(error: reqwest::Error, progress: &Progress<'_>) -> Verdict {
    if error.is_builder() {
        return fail(
            Error::new(ErrorKind::InvalidInput, "the request cannot be built").source(error),
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
        let message = format!("{what} {}: {}", target(progress), cause::root(&error));
        // Nothing was sent, so every operation may be tried again; a certificate does not change by trying.
        return fail(
            Error::new(ErrorKind::Connect, message)
                .source(error)
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
            .source(error)
            .with_effect(Effect::Unknown)
            .with_retryable(true),
        progress.may_replay,
    )
}

fn target(progress: &Progress<'_>) -> String {
    let endpoint = progress.client.endpoint();
    cause::target(endpoint.url(), endpoint.proxy())
}
