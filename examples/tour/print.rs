//! How the tour looks.

use std::fmt::Display;

use sdk_core::Error;

use super::line::line;
use super::out::put;

/// A new stop.
pub(crate) fn heading(title: &str) {
    put!("");
    put!(
        "── {title} {}",
        "─".repeat(66_usize.saturating_sub(title.chars().count()))
    );
}

/// A name and its value.
pub(crate) fn fact(name: &str, value: impl Display) {
    row(name, line(value));
}

/// A name and what stands beside it in columns.
pub(crate) fn row(name: &str, columns: impl Display) {
    put!("  {:<26}{columns}", line(name));
}

/// An error, which is one line already.
pub(crate) fn tell(error: &Error) {
    put!("  {error}");
}

/// A sentence.
pub(crate) fn say(text: impl Display) {
    put!("  {}", line(text));
}

/// A bar of up to `width` characters.
pub(crate) fn bar(value: i64, most: i64, width: usize) -> String {
    let share = usize::try_from(value.max(0)).unwrap_or(0) * width;
    "█".repeat(share.div_ceil(usize::try_from(most.max(1)).unwrap_or(1)))
}

/// An optional text, or a dash.
pub(crate) fn or_dash(text: Option<&str>) -> &str {
    text.unwrap_or("–")
}
