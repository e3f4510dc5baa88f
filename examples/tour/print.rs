//! How the tour looks.

use std::fmt::Display;
use std::io::{Write, stdout};

/// A new stop.
pub(crate) fn heading(title: &str) {
    line("");
    line(format_args!(
        "── {title} {}",
        "─".repeat(66_usize.saturating_sub(title.chars().count()))
    ));
}

/// A name and its value.
pub(crate) fn fact(name: &str, value: impl Display) {
    line(format_args!("  {name:<26}{value}"));
}

/// A sentence.
pub(crate) fn say(text: impl Display) {
    line(format_args!("  {text}"));
}

/// Much of it comes from the suite. Whoever reads the output may have seen enough (`| head`), which is no failure of the tour.
fn line(text: impl Display) {
    let _ = writeln!(stdout(), "{}", crate::line::line(text));
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
