use std::fmt;

use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::text::{one_line, one_line_of};

/// The longest hint: it says more than one thing.
const LONGEST_HINT: usize = 900;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(operation) = inner.operation {
            write!(f, "{}.{}: ", operation.application, operation.id)?;
        }
        match (inner.status, inner.kind) {
            (Some(status), kind) => write!(f, "{status} {kind}")?,
            (None, ErrorKind::Configuration | ErrorKind::InvalidInput | ErrorKind::Value) => {
                return write!(f, "{}", one_line_of(&inner.message, LONGEST_HINT));
            }
            (None, kind) => write!(f, "{kind}")?,
        }
        if let Some(code) = &inner.code {
            write!(f, " {}", one_line(code))?;
        }
        if !inner.message.is_empty() {
            write!(f, ": {}", one_line(&inner.message))?;
        }
        if let Some(hint) = &inner.hint {
            write!(f, "; {}", one_line_of(hint, LONGEST_HINT))?;
        }
        if inner.effect == Effect::Unknown
            && inner
                .operation
                .is_some_and(|operation| operation.safety.is_command())
        {
            f.write_str("; its effect is unknown")?;
        }
        if inner.attempts > 1 {
            write!(f, "; after {} attempts", inner.attempts)?;
        }
        if let Some(id) = &inner.request_id {
            write!(f, " (request {})", one_line(id))?;
        }
        Ok(())
    }
}
