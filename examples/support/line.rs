//! What somebody else wrote, as a terminal can bear it.

// Each example uses what it needs.
#![allow(dead_code)]

use std::fmt::Display;

/// More than any name or sentence has.
const MOST: usize = 1_000;

/// One line, of bounded length, without characters that steer a terminal or hide what is there.
pub(crate) fn line(text: impl Display) -> String {
    let text = text.to_string();
    let shown = |letter: char| match letter {
        '\t' | '\n' | '\r' => ' ',
        letter if is_hidden(letter) => '\u{fffd}',
        letter => letter,
    };
    let mut line: String = text.chars().take(MOST).map(shown).collect();
    if text.chars().nth(MOST).is_some() {
        line.push('…');
    }
    line
}

/// Whether a character is a command, such as ESC, or cannot be seen: line ends, marks of direction and order, zero-width
/// characters, tags, and what is no character.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        )
        || matches!(letter, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
        || matches!(letter, '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(letter, '\u{e0000}'..='\u{e0fff}')
}
