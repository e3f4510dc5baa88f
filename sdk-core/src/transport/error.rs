//! Why a transport brought no reply.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use crate::error::source::Source;
use crate::transport::cause;

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
    /// It may have been sent.
    Unknown,
    /// It was sent, and then once more to where a redirect pointed.
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
        matches!(self.stage, Stage::Unknown | Stage::Redirected)
    }

    pub(crate) fn at(stage: Stage, source: impl Into<BoxError>) -> Self {
        Self {
            stage,
            timed_out: false,
            source: Source::new(source),
        }
    }

    /// The error of a service. Layers box the errors of what they wrap, so the evidence is looked for in the whole chain.
    pub(crate) fn of(error: BoxError) -> Self {
        let (mut stage, mut timed_out) = (Stage::Unknown, false);
        for cause in cause::chain(&*error) {
            if let Some(known) = cause.downcast_ref::<Self>() {
                (stage, timed_out) = (known.stage, known.timed_out);
            } else if let Some(io) = cause.downcast_ref::<io::Error>() {
                // Only making a connection ends like this.
                if io.kind() == io::ErrorKind::ConnectionRefused {
                    stage = Stage::NotSent;
                }
                timed_out |= io.kind() == io::ErrorKind::TimedOut;
            }
        }
        Self {
            timed_out,
            ..Self::at(stage, error)
        }
    }

    /// The same error of a request that no connection took, by the evidence of its body.
    pub(crate) fn never_begun(mut self) -> Self {
        if self.stage == Stage::Unknown {
            self.stage = Stage::NotSent;
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
            Stage::Unknown => "the request may have been sent",
            Stage::Redirected => "the request was sent to another address",
        })
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}
