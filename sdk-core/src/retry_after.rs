//! Reading `Retry-After` without a clock of our own.

use std::time::Duration;

use http::HeaderMap;
use http::header::{DATE, HeaderName, RETRY_AFTER};
use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// The pause a server asks for: seconds, or a date taken against the reply's own `Date`, so that a wrong local clock
/// changes nothing. Anything negative, past or unreadable asks for nothing.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Too many digits to parse is a long time too; every use caps it.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let pause = date(headers, &RETRY_AFTER)?.duration_since(date(headers, &DATE)?);
    Duration::try_from(pause)
        .ok()
        .filter(|pause| !pause.is_zero())
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<Timestamp> {
    let text = headers.get(name)?.to_str().ok()?;
    rfc2822::DateTimeParser::new()
        .relaxed_weekday(true)
        .parse_timestamp(text.trim())
        .ok()
}
