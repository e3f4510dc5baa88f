use std::fmt;

use crate::error::Parts;
use crate::error::kind::{Effect, ErrorKind};
use crate::text::{Line, one_line};

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The builder admits only labels that are short and fit on a line.
        if let Some(installation) = &self.installation {
            write!(f, "[{installation}] ")?;
        }
        if let Some(operation) = self.operation {
            write!(f, "{}.{}: ", operation.application, operation.id)?;
        }
        match (self.status, self.kind) {
            (Some(status), kind) => write!(f, "{status} {kind}")?,
            (None, ErrorKind::Configuration | ErrorKind::InvalidInput | ErrorKind::Value) => {
                return f.write_str(&self.message);
            }
            (None, kind) => write!(f, "{kind}")?,
        }
        if let Some(code) = &self.code {
            write!(f, " {}", one_line(code))?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", one_line(&self.message))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {}", Line::Hint.of(hint))?;
        }
        if self.effect == Effect::Unknown
            && self
                .operation
                .is_some_and(|operation| operation.safety.is_command())
        {
            f.write_str("; its effect is unknown")?;
        }
        if self.attempts > 1 {
            write!(f, "; after {} attempts", self.attempts)?;
        }
        if let Some(id) = &self.request_id {
            write!(f, " (request {})", one_line(id))?;
        }
        Ok(())
    }
}
