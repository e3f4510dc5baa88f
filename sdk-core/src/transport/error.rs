//! Why a transport brought no reply.

use std::error::Error as StdError;
use std::fmt;
use std::io;

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
    stage: Stage,
    /// What an error somewhere inside says. It counts only if no connection took the body: layers may have sent it before.
    inside: Option<Stage>,
    timed_out: bool,
    source: Source,
}

/// How far the request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It cannot be sent, now or later.
    Refused,
    /// No connection took it.
    NotSent,
    /// It was sent, and the server says that it did nothing with it.
    Unprocessed,
    /// It may have been sent.
    Unknown,
    /// The transport does not say.
    Silent,
    /// It was sent, and then once more to where a redirect pointed.
    #[cfg_attr(
        not(feature = "reqwest-013"),
        allow(dead_code, reason = "only a client of reqwest follows redirects")
    )]
    Redirected,
}

impl TransportError {
    /// The request was not sent, and this is certain: any call may be attempted again.
    pub fn not_sent(source: impl Into<BoxError>) -> Self {
        Self::at(Stage::NotSent, source)
    }

    /// The request may have been sent. The suite attempts a call again only where that is safe.
    pub fn unknown(source: impl Into<BoxError>) -> Self {
        Self::at(Stage::Unknown, source)
    }

    /// The request was sent, but the server says that it did not process it, as HTTP/2 can: any call may be attempted again.
    pub fn unprocessed(source: impl Into<BoxError>) -> Self {
        Self::at(Stage::Unprocessed, source)
    }

    /// The transport does not know whether the request was sent. It was not if nobody has taken its
    /// [body](crate::transport::RequestBody). If the source is one of these errors itself, that one is returned.
    pub fn unspecified(source: impl Into<BoxError>) -> Self {
        Self::of(source.into())
    }

    /// The transport refuses this request, and would refuse it again: nothing was sent, and the call fails at once.
    pub fn refused(source: impl Into<BoxError>) -> Self {
        Self::at(Stage::Refused, source)
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
        !matches!(self.stage, Stage::Refused | Stage::NotSent)
    }

    pub(crate) fn at(stage: Stage, source: impl Into<BoxError>) -> Self {
        Self {
            stage,
            inside: None,
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
        let (mut inside, mut timed_out) = (None, false);
        for cause in chain(&*error) {
            if let Some(known) = cause.downcast_ref::<Self>() {
                inside = inside.or(Some(known.stage));
                timed_out |= known.timed_out;
            } else if let Some(io) = cause.downcast_ref::<io::Error>() {
                // Only making a connection ends like this.
                let refused = io.kind() == io::ErrorKind::ConnectionRefused;
                inside = inside.or(refused.then_some(Stage::NotSent));
                timed_out |= io.kind() == io::ErrorKind::TimedOut;
            }
        }
        Self {
            inside,
            timed_out,
            ..Self::at(Stage::Silent, error)
        }
    }

    /// The same error, where the body is the evidence if the transport does not say: whether it was given up before any
    /// connection took it, and whether there is one at all.
    pub(crate) fn by_evidence(mut self, given_up: bool, has_body: bool) -> Self {
        if self.stage == Stage::Silent {
            self.stage = match self.inside {
                Some(inside @ (Stage::Refused | Stage::NotSent)) if given_up => inside,
                _ if given_up && has_body => Stage::NotSent,
                _ => Stage::Unknown,
            };
        }
        self
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    pub(crate) fn is_timeout(&self) -> bool {
        self.timed_out
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.stage {
            Stage::Refused => "the transport refuses the request",
            Stage::NotSent => "the request was not sent",
            Stage::Unprocessed => "the server did not process the request",
            Stage::Unknown | Stage::Silent => "the request may have been sent",
            Stage::Redirected => "the request was sent to another address",
        })
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}
