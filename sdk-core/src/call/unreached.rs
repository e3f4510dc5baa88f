//! Attempts without a reply, and whether their request was sent.

use crate::call::progress::Progress;
use crate::call::verdict::{Verdict, fail};
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::transport::cause;
use crate::transport::error::{Stage, TransportError};

/// Which time limit passed, and how long it was.
fn time_was_up(whole_call: bool, progress: &Progress<'_, '_>) -> String {
    let limits = progress.limits;
    if whole_call {
        format!("the deadline of the call passed after {:?}", limits.total)
    } else {
        format!("the attempt timed out after {:?}", limits.attempt_timeout)
    }
}

/// A reply began but did not end in time.
pub(super) fn late_body(whole_call: bool, progress: &Progress<'_, '_>) -> Error {
    let (what, target) = (time_was_up(whole_call, progress), target(progress));
    let message = format!("{what} while {target} was sending its reply");
    Error::timeout(message)
}

/// No reply began in time.
pub(super) fn timed_out(
    whole_call: bool,
    never_begun: bool,
    progress: &Progress<'_, '_>,
) -> Verdict {
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
pub(super) fn failed(error: TransportError, progress: &Progress<'_, '_>) -> Verdict {
    match error.stage() {
        Stage::Refused => {
            let why = cause::root(&error);
            let message = format!("the HTTP client cannot send the request: {why}");
            let error = Error::new(ErrorKind::InvalidInput, message).with_cause(error);
            fail(error, false)
        }
        Stage::NotSent => unconnected(error, progress),
        Stage::Unknown => lost(error, progress),
        Stage::Redirected => {
            let message = cause::root(&error).to_string();
            let error = Error::new(ErrorKind::UnexpectedStatus, message).with_cause(error);
            fail(error.with_effect(Effect::Unknown), false)
        }
    }
}

/// Nothing was sent, so every operation may be retried.
fn unconnected(error: TransportError, progress: &Progress<'_, '_>) -> Verdict {
    let tls = cause::is_tls(&error);
    let what = if tls {
        "TLS handshake failed with"
    } else {
        "cannot connect to"
    };
    let endpoint = progress.client.endpoint();
    // The root cause of a timeout does not say how long it was.
    let why = if error.is_timeout() && !endpoint.sender().needs_watching() {
        let most = progress.client.suite().connections.connect_timeout();
        format!("timed out after {most:?}")
    } else {
        cause::root(&error).to_string()
    };
    let message = format!("{what} {}: {why}", target(progress));
    // A certificate does not change by retrying.
    let error = Error::new(ErrorKind::Connect, message)
        .with_cause(error)
        .with_retryable(!tls);
    fail(error, !tls)
}

/// The request may have been sent, and no reply came.
fn lost(error: TransportError, progress: &Progress<'_, '_>) -> Verdict {
    let kind = if error.is_timeout() {
        ErrorKind::Timeout
    } else {
        ErrorKind::Transport
    };
    // By the word of the server, although the connection stood.
    let unprocessed = cause::is_unprocessed(&error);
    let effect = if unprocessed {
        Effect::NotSent
    } else {
        Effect::Unknown
    };
    let (target, why) = (target(progress), cause::root(&error).to_string());
    let error = Error::new(kind, format!("no reply from {target}: {why}"))
        .with_cause(error)
        .with_effect(effect)
        .with_retryable(true);
    fail(error, unprocessed || progress.may_replay)
}

fn target(progress: &Progress<'_, '_>) -> String {
    let endpoint = progress.client.endpoint();
    cause::target(endpoint.url(), endpoint.proxy())
}
