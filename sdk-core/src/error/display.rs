use std::fmt;

use super::{Effect, Error, ErrorKind};

/// The longest text of a server that goes into a line.
const LONGEST_EXCERPT: usize = 300;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(operation) = inner.operation {
            write!(f, "{}.{}: ", operation.application, operation.id)?;
        }
        match (inner.status, inner.kind) {
            (Some(status), kind) => write!(f, "{status} {kind}")?,
            (None, ErrorKind::Configuration | ErrorKind::InvalidInput | ErrorKind::Value) => {
                return write!(f, "{}", one_line(&inner.message));
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
            write!(f, "; {}", one_line(hint))?;
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

/// Text from elsewhere on one line, bounded, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST_EXCERPT));
    let mut length = 0;
    let mut blank = false;
    for character in text.chars() {
        if character.is_whitespace() || character.is_control() {
            blank = !line.is_empty();
            continue;
        }
        if length == LONGEST_EXCERPT {
            line.push('…');
            break;
        }
        if std::mem::take(&mut blank) {
            line.push(' ');
            length += 1;
        }
        line.push(character);
        length += 1;
    }
    line
}

/// So many of them, in words.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn foreign_text_stays_on_one_bounded_line() {
        assert_eq!(one_line(" a\r\n\tb\u{1b}[31m c "), "a b [31m c");
        assert_eq!(one_line(&"x".repeat(1_000)).chars().count(), 301);
    }
}
