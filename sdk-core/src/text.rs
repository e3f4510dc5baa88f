/// The kind of a foreign string. It determines the maximum length of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Label,
    Code,
    /// The start of a body.
    Excerpt,
    RequestId,
    Message,
    Hint,
}

impl TextKind {
    pub(crate) const fn longest(self) -> usize {
        match self {
            Self::Label => 64,
            Self::Code => 100,
            Self::Excerpt => 120,
            Self::RequestId => 200,
            Self::Message => 300,
            Self::Hint => 900,
        }
    }

    /// Turns a string into one line. If the line is too long, it is cut and ends with an ellipsis.
    pub(crate) fn of(self, text: &str) -> String {
        let longest = self.longest();
        let mut line = String::with_capacity(text.len().min(longest));
        let mut length = 0;
        let mut blank = false;
        for character in text.chars() {
            if character.is_whitespace() || character.is_control() {
                blank = !line.is_empty();
                continue;
            }
            if is_invisible(character) {
                continue;
            }
            let needed = 1 + usize::from(blank);
            if length + needed > longest {
                line.push('…');
                break;
            }
            if std::mem::take(&mut blank) {
                line.push(' ');
            }
            line.push(character);
            length += needed;
        }
        line
    }
}

/// Turns a string from a server into one line of at most 300 characters for logs and users.
///
/// Control characters and line breaks become a space. Invisible characters that change how other characters are
/// displayed (bidirectional overrides, zero-width characters, tags) are removed. So a server cannot forge a log line or
/// move a terminal's cursor. Errors, spans and events print foreign strings in this form.
///
/// ```
/// assert_eq!(sdk_core::one_line("Ann\n\u{1b}[31m\u{202e}Example"), "Ann [31mExample");
/// ```
#[must_use]
pub fn one_line(text: &str) -> String {
    TextKind::Message.of(text)
}

/// Whether a character is invisible or changes how others are displayed: format characters (Cf), fillers and selectors.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A count with its noun, such as `2 bytes`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_foreign_string_becomes_one_bounded_line() {
        assert_eq!(one_line(" a\r\n\tb\u{1b}[31m c "), "a b [31m c");
        assert_eq!(one_line("a\u{85}b\u{9b}c\u{2028}d"), "a b c d");
        assert_eq!(
            one_line("pay\u{202e}lru\u{200b}\u{feff}\u{e0041}"),
            "paylru"
        );
        assert_eq!(one_line(&"x".repeat(1_000)).chars().count(), 301);
        assert_eq!(one_line(&"é ".repeat(1_000)).chars().count(), 300);
    }
}
