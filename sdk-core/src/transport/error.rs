//! Transport errors.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use url::Url;

use crate::error::kind::Effect;
use crate::error::source::{Source, chain};

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// The error of a [`Transport`](crate::transport::Transport) that got no response. It says whether the request was
/// sent.
///
/// ```
/// use sdk_core::transport::TransportError;
///
/// let error = TransportError::not_sent("no connection left in the pool");
/// assert!(!error.may_have_been_sent());
/// assert!(TransportError::unknown("connection reset").may_have_been_sent());
/// ```
#[derive(Clone, Debug)]
pub struct TransportError {
    state: SendState,
    /// The state of an error among the causes. It counts only if no connection took the body, because a layer may have
    /// sent the request before.
    cause_state: Option<SendState>,
    timed_out: bool,
    source: Source,
}

/// How far the request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendState {
    /// It can't be sent, now or later.
    Unsendable,
    /// No connection took it.
    NotSent,
    /// It was sent, but the server reports that it did not process it.
    Unprocessed,
    /// It may have been sent.
    Unknown,
    /// The transport doesn't report it.
    Unspecified,
    /// It was sent, and then sent again to the target of a redirect.
    #[cfg_attr(
        not(feature = "reqwest-013"),
        allow(dead_code, reason = "only a client of reqwest follows redirects")
    )]
    Redirected,
}

impl SendState {
    pub(crate) fn effect(self) -> Effect {
        match self {
            Self::Unsendable | Self::NotSent | Self::Unprocessed => Effect::NotSent,
            Self::Unknown | Self::Unspecified | Self::Redirected => Effect::Unknown,
        }
    }
}

impl TransportError {
    /// The request was not sent. Any call may be retried.
    pub fn not_sent(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::NotSent, source)
    }

    /// The request may have been sent. The SDK retries a call only if that is safe.
    pub fn unknown(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::Unknown, source)
    }

    /// The request was sent, but the server reports that it did not process it, as HTTP/2 allows. Any call may be
    /// retried.
    pub fn unprocessed(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::Unprocessed, source)
    }

    /// The transport doesn't know whether the request was sent. The SDK treats it as not sent if nothing took its
    /// [body](crate::transport::RequestBody). If the source is a `TransportError`, it is returned unchanged.
    pub fn unspecified(source: impl Into<BoxError>) -> Self {
        Self::of(source.into())
    }

    /// The transport permanently rejects this request. Nothing was sent, and the call fails without a retry.
    pub fn rejected(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::Unsendable, source)
    }

    /// Marks the error as a timeout.
    #[must_use]
    pub fn timed_out(mut self) -> Self {
        self.timed_out = true;
        self
    }

    /// Whether the request may have reached the server.
    #[must_use]
    pub fn may_have_been_sent(&self) -> bool {
        !matches!(self.state, SendState::Unsendable | SendState::NotSent)
    }

    pub(crate) fn at(state: SendState, source: impl Into<BoxError>) -> Self {
        Self {
            state,
            cause_state: None,
            timed_out: false,
            source: Source::new(source),
        }
    }

    /// Returns the error for a service's failure. Its send state is known only if it is a `TransportError`.
    pub(crate) fn of(error: BoxError) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(known) => return *known,
            Err(error) => error,
        };
        let (mut cause_state, mut timed_out) = (None, false);
        for cause in chain(&*error) {
            if let Some(known) = cause.downcast_ref::<Self>() {
                cause_state = cause_state.or(Some(known.state));
                timed_out |= known.timed_out;
            } else if let Some(io) = cause.downcast_ref::<io::Error>() {
                // Only a connection attempt ends with this error.
                let refused = io.kind() == io::ErrorKind::ConnectionRefused;
                cause_state = cause_state.or(refused.then_some(SendState::NotSent));
                timed_out |= io.kind() == io::ErrorKind::TimedOut;
            }
        }
        Self {
            cause_state,
            timed_out,
            ..Self::at(SendState::Unspecified, error)
        }
    }

    /// Infers the state from the body if the transport doesn't report it. `given_up` means that the request was
    /// cancelled before a connection took its body, `has_body` that it has a body.
    pub(crate) fn infer_send_state(mut self, given_up: bool, has_body: bool) -> Self {
        if self.state == SendState::Unspecified {
            self.state = match self.cause_state {
                Some(cause_state @ (SendState::Unsendable | SendState::NotSent)) if given_up => {
                    cause_state
                }
                _ if given_up && has_body => SendState::NotSent,
                _ => SendState::Unknown,
            };
        }
        self
    }

    pub(crate) fn send_state(&self) -> SendState {
        self.state
    }

    pub(crate) fn is_timeout(&self) -> bool {
        self.timed_out
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            SendState::Unsendable => "the transport rejects the request",
            SendState::NotSent => "the request was not sent",
            SendState::Unprocessed => "the server did not process the request",
            SendState::Unknown | SendState::Unspecified => "the request may have been sent",
            SendState::Redirected => "the request was sent to another address",
        })
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

/// Returns the innermost cause, which is the most specific.
pub(crate) fn root_cause<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    chain(error).last().unwrap_or(error)
}

/// Returns the host and port of an address and the proxy in front of it, for errors about unreachable addresses.
pub(crate) fn describe_target(url: &Url, proxy: Option<&str>) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default();
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let through = proxy.map_or_else(String::new, |proxy| format!(" through the proxy {proxy}"));
    format!("{host}{port}{through}")
}

pub(crate) fn is_refused_connection(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether a TLS handshake failed. TLS libraries report that as an I/O error of invalid data.
pub(crate) fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData)
}

/// Whether the server reports that it did not process the request. It either refused the stream, or sent GOAWAY with a
/// lower last stream (RFC 9113, sections 6.8 and 8.7). Streams up to the last stream end in an I/O error instead.
#[cfg(feature = "http2")]
pub(crate) fn is_unprocessed(error: &(dyn StdError + 'static)) -> bool {
    let refused = |error: &h2::Error| error.reason() == Some(h2::Reason::REFUSED_STREAM);
    chain(error)
        .filter_map(|error| error.downcast_ref::<h2::Error>())
        .any(|error| error.is_remote() && (error.is_go_away() || refused(error)))
}

/// Only HTTP/2 reports this.
#[cfg(not(feature = "http2"))]
pub(crate) fn is_unprocessed(_error: &(dyn StdError + 'static)) -> bool {
    false
}
