//! Attempts without a reply, and whether their request was sent.

use crate::call::attempt::{AttemptResult, failed};
use crate::call::state::CallState;
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::text::Line;
use crate::transport::error::{
    SendState, TransportError, describe_target, is_refused_connection, is_tls, root_cause,
};

/// Which time limit passed, and how long it was.
fn time_was_up(whole_call: bool, state: &CallState<'_, '_>) -> String {
    let limits = state.limits;
    if whole_call {
        format!("the deadline of the call passed after {:?}", limits.total)
    } else {
        format!("the attempt timed out after {:?}", limits.attempt_timeout)
    }
}

/// A reply began but did not end in time.
pub(super) fn late_body(whole_call: bool, state: &CallState<'_, '_>) -> Error {
    let (what, target) = (time_was_up(whole_call, state), target(state));
    let message = format!("{what} while {target} was sending its reply");
    Error::timeout(message)
}

/// No reply began in time.
pub(super) fn timed_out(
    whole_call: bool,
    not_sent: bool,
    state: &CallState<'_, '_>,
) -> AttemptResult {
    let (what, target) = (time_was_up(whole_call, state), target(state));
    let (message, effect, retry) = if not_sent {
        let message = format!("{what} while waiting for a connection to {target}");
        (message, Effect::NotSent, true)
    } else {
        let message = format!("{what} without a reply from {target}");
        (message, Effect::Unknown, state.may_replay)
    };
    let error = Error::timeout(message).with(|parts| parts.effect = effect);
    failed(error, retry)
}

/// No reply at all. The transport's own words may quote the request.
pub(super) fn failed_to_send(error: TransportError, state: &CallState<'_, '_>) -> AttemptResult {
    let (target, mut why) = (target(state), root_cause(&error).to_string());
    let redactor = state.redactor(b"");
    if redactor.matches(&why) {
        why = redactor.line(Line::Message, &why);
    }
    let sender = state.client.endpoint().sender();
    let tls = sender.opens_connections() && is_tls(&error);
    let sending = error.send_state();
    let late = error.is_timeout();
    let (kind, message, retry) = match sending {
        SendState::Unsendable => {
            let message = format!("the HTTP client cannot send the request: {why}");
            (ErrorKind::InvalidInput, message, false)
        }
        // Nothing was sent, so every operation may be retried. A certificate does not change by retrying.
        SendState::NotSent => {
            let what = match (
                tls,
                !sender.opens_connections() && !is_refused_connection(&error),
            ) {
                (true, _) => "TLS handshake failed with",
                (false, true) => "not sent to",
                (false, false) => "cannot connect to",
            };
            // The root cause of a timeout does not say how long it was.
            let why = match sender.connect_timeout().filter(|_| late) {
                Some(most) => format!("timed out after {most:?}"),
                None => why,
            };
            let message = format!("{what} {target}: {why}");
            (ErrorKind::Connect, message, !tls)
        }
        SendState::Unprocessed | SendState::Unknown | SendState::Unspecified => {
            let kind = if late {
                ErrorKind::Timeout
            } else {
                ErrorKind::Transport
            };
            let message = format!("no reply from {target}: {why}");
            let retry = sending == SendState::Unprocessed || state.may_replay;
            (kind, message, retry)
        }
        SendState::Redirected => (ErrorKind::UnexpectedStatus, why, false),
    };
    let helps = match sending {
        SendState::Unsendable | SendState::Redirected => false,
        SendState::NotSent => !tls,
        SendState::Unprocessed | SendState::Unknown | SendState::Unspecified => true,
    };
    let error = Error::new(kind, message)
        .with_cause(error)
        .with(|parts| (parts.effect, parts.retryable) = (sending.effect(), helps))
        .withheld(&redactor);
    failed(error, retry)
}

fn target(state: &CallState<'_, '_>) -> String {
    let endpoint = state.client.endpoint();
    describe_target(endpoint.url(), endpoint.proxy())
}
