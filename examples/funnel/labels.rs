//! Values as people read them.

use jiff::tz::TimeZone;
use sdk_crm::Timestamp;

/// What stands for a value that did not come.
pub(crate) const MISSING: &str = "not reported";

/// A code as words: `proposal_or_decision` is "Proposal or decision".
pub(crate) fn words(code: Option<&str>) -> String {
    let text = code.unwrap_or_default().replace(['_', '-'], " ");
    let mut letters = text.trim().chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "(no name)".to_owned(),
    }
}

/// At most so many characters, the last one an ellipsis if there were more.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// `12345` is "12,345".
pub(crate) fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "−" } else { "" }.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "15 January 2026", with the time unless it is midnight; always UTC. What jiff cannot hold stands as it came.
pub(crate) fn date(at: &Timestamp) -> String {
    let Ok(instant) = jiff::Timestamp::try_from(at) else {
        return at.to_string();
    };
    let at = instant.to_zoned(TimeZone::UTC);
    let midnight = at.hour() == 0 && at.minute() == 0;
    let format = if midnight {
        "%-d %B %Y"
    } else {
        "%-d %B %Y, %H:%M UTC"
    };
    at.strftime(format).to_string()
}

/// The window in a sentence.
pub(crate) fn window(from: Option<&Timestamp>, to: Option<&Timestamp>) -> String {
    match (from, to) {
        (Some(from), Some(to)) => format!("Flow from {} to {}", date(from), date(to)),
        (Some(from), None) => format!("Flow since {}", date(from)),
        (None, Some(to)) => format!("Flow until {}", date(to)),
        (None, None) => "Flow over a window that was not reported".to_owned(),
    }
}
