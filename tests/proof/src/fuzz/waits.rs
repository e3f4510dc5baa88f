//! `Retry-After` and `Date`. A second implementation agrees, and no call waits beyond its deadline or returns earlier
//! than asked.

use std::time::Duration;

use http::HeaderValue;
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use sdk_core::{Backoff, RetryPolicy};
use tokio::time::Instant;

use super::stage::{is_sound, on, reply};
use super::{choice, line};

const DEADLINE: Duration = Duration::from_secs(30);
/// The longest backoff before the second attempt.
const BACKOFF: Duration = Duration::from_millis(200);

/// The first line of the input is `Retry-After`, the second is `Date`.
pub(super) fn run(data: &[u8]) {
    let (pick, rest) = choice(data);
    let (header, rest) = line(rest);
    let (sent_at, _) = line(rest);
    let mut answer = reply([503, 429][pick % 2], "");
    for (name, value) in [("retry-after", header), ("date", sent_at)] {
        let Ok(value) = HeaderValue::from_bytes(value) else {
            return;
        };
        answer.headers_mut().insert(name, value);
    }
    let backoff = Backoff::new(BACKOFF, BACKOFF);
    let twice = RetryPolicy::default()
        .with_attempts(2)
        .with_backoff(backoff);
    let answers = vec![answer, reply(200, "{}")];
    let (result, took) = on(answers, async |stage| {
        let started = Instant::now();
        let call = stage.platform.apps().list().retry(twice);
        let result = call.deadline(DEADLINE).await;
        (result, started.elapsed())
    });
    let header = header.trim_ascii();
    let is_digits = !header.is_empty() && header.iter().all(u8::is_ascii_digit);
    let expected = match (is_digits, text(sent_at).and_then(seconds)) {
        (true, _) => text(header).map(|it| it.parse().unwrap_or(u64::MAX)),
        (false, Some(now)) => text(header)
            .and_then(seconds)
            .and_then(|at| at.checked_sub(now)),
        // This case depends on the clock of the machine.
        (false, None) if text(header).and_then(seconds).is_some() => return,
        (false, None) => None,
    };
    let expected = expected
        .filter(|it| is_digits || *it > 0)
        .map(Duration::from_secs);
    let wait = expected.unwrap_or_default();
    match result {
        Ok(_) => assert!(
            (wait..=wait.saturating_add(BACKOFF)).contains(&took),
            "{wait:?} {took:?}"
        ),
        Err(error) => {
            is_sound(&error);
            assert_eq!(error.retry_after(), expected);
            assert!(
                took.is_zero() && wait.saturating_add(BACKOFF) >= DEADLINE,
                "{wait:?} {took:?}"
            );
        }
    }
    assert!(took < DEADLINE, "{took:?}");
}

fn text(line: &[u8]) -> Option<&str> {
    str::from_utf8(line).ok().map(str::trim)
}

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// The three date formats of HTTP.
const FORMS: [&str; 3] = [
    "%a, %d %b %Y %H:%M:%S GMT",
    "%A, %d-%b-%y %H:%M:%S GMT",
    "%a %b %e %H:%M:%S %Y",
];

/// Returns the seconds since 1970 of a date, if a format writes the parsed date back equal.
fn seconds(text: &str) -> Option<u64> {
    FORMS.iter().find_map(|form| {
        let read = BrokenDownTime::parse(form, text).ok()?;
        // Two-digit years begin at 1970.
        let year = read
            .year()
            .map(|year| if year == 1969 { 2069 } else { year })?;
        let (hour, minute, second) = (read.hour()?, read.minute()?, read.second()?);
        let date = DateTime::new(year, read.month()?, read.day()?, hour, minute, second, 0).ok()?;
        let is_written = date.strftime(form).to_string() == text;
        let at = date.duration_since(EPOCH).as_secs();
        u64::try_from(at).ok().filter(|_| is_written)
    })
}
