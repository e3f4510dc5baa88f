//! Why a transport brought no reply.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use url::Url;

use crate::error::kind::Effect;
use crate::error::source::{Source, chain};

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a [`Transport`](crate::transport::Transport) brought no reply, and whether the request was sent.
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
    /// The state of an error among the causes. It counts only if no connection took the body: layers may have sent it before.
    cause_state: Option<SendState>,
    timed_out: bool,
    source: Source,
}

/// How far the request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendState {
    /// It cannot be sent, now or later.
    Unsendable,
    /// No connection took it.
    NotSent,
    /// It was sent, and the server says that it did nothing with it.
    Unprocessed,
    /// It may have been sent.
    Unknown,
    /// The transport doesn't say.
    Unspecified,
    /// It was sent, and then once more to where a redirect pointed.
    #[cfg_attr(
        not(feature = "reqwest-013"),
        allow(dead_code, reason = "only a client of reqwest follows redirects")
    )]
    Redirected,
}

impl SendState {
    /// The effect of an attempt that ended like this.
    pub(crate) fn effect(self) -> Effect {
        match self {
            Self::Unsendable | Self::NotSent | Self::Unprocessed => Effect::NotSent,
            Self::Unknown | Self::Unspecified | Self::Redirected => Effect::Unknown,
        }
    }
}

impl TransportError {
    /// The request was not sent, and this is certain: any call may be attempted again.
    pub fn not_sent(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::NotSent, source)
    }

    /// The request may have been sent. The suite attempts a call again only where that is safe.
    pub fn unknown(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::Unknown, source)
    }

    /// The request was sent, but the server says that it did not process it, as HTTP/2 can: any call may be attempted again.
    pub fn unprocessed(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::Unprocessed, source)
    }

    /// The transport does not know whether the request was sent. It was not if nobody has taken its
    /// [body](crate::transport::RequestBody). If the source is one of these errors itself, that one is returned.
    pub fn unspecified(source: impl Into<BoxError>) -> Self {
        Self::of(source.into())
    }

    /// The transport rejects this request, and would reject it again: nothing was sent, and the call fails at once.
    pub fn rejected(source: impl Into<BoxError>) -> Self {
        Self::at(SendState::Unsendable, source)
    }

    /// The same error, as one of time.
    #[must_use]
    pub fn timed_out(mut self) -> Self {
        self.timed_out = true;
        self
    }

    /// Whether the request may have reached the other side.
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

    /// The error of a service, which speaks for itself only if it is one of these.
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
                // Only making a connection ends like this.
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

    /// The same error, where the body is the evidence if the transport does not say: whether it was given up before any
    /// connection took it, and whether there is one at all.
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

/// The innermost cause, which says the most.
pub(crate) fn root_cause<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    chain(error).last().unwrap_or(error)
}

/// Host and port of an address, and the proxy in front of it: what to check when it cannot be reached.
pub(crate) fn describe_target(url: &Url, proxy: Option<&str>) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default();
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let through = proxy.map_or_else(String::new, |proxy| format!(" through the proxy {proxy}"));
    format!("{host}{port}{through}")
}

/// Whether the other side refused the connection.
pub(crate) fn is_refused_connection(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether a TLS handshake failed, which a TLS library reports as an I/O error of invalid data.
pub(crate) fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData)
}

/// Whether the server says that it did not process the request: it refused the stream, or went away with a last stream before
/// it (RFC 9113, sections 6.8 and 8.7). Streams up to the last one end in an I/O error instead.
#[cfg(feature = "http2")]
pub(crate) fn is_unprocessed(error: &(dyn StdError + 'static)) -> bool {
    let refused = |error: &h2::Error| error.reason() == Some(h2::Reason::REFUSED_STREAM);
    chain(error)
        .filter_map(|error| error.downcast_ref::<h2::Error>())
        .any(|error| error.is_remote() && (error.is_go_away() || refused(error)))
}

/// Only HTTP/2 says so.
#[cfg(not(feature = "http2"))]
pub(crate) fn is_unprocessed(_error: &(dyn StdError + 'static)) -> bool {
    false
}
