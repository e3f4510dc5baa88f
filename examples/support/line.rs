//! What somebody else wrote, as a terminal can bear it.

use std::fmt::Display;

use sdk_core::one_line;

/// One line, of bounded length, without characters that steer a terminal or hide what is there.
pub(crate) fn line(text: impl Display) -> String {
    one_line(&text.to_string())
}

/// Whether a character is a command, such as ESC, or cannot be seen.
pub(crate) fn is_hidden(letter: char) -> bool {
    let is_plain = letter.is_ascii_graphic() || letter == ' ';
    !is_plain && one_line(letter.encode_utf8(&mut [0; 4])).is_empty()
}
