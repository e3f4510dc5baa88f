//! `Retry-After` and `Date`: a second reading agrees, and no call waits beyond its deadline or returns earlier than asked.

use std::time::Duration;

use http::HeaderValue;
use sdk_core::RetryPolicy;
use tokio::time::Instant;

use super::stage::{is_sound, on, reply};
use super::{choice, line};

const DEADLINE: Duration = Duration::from_secs(30);
/// The longest backoff before a second attempt.
const BACKOFF: Duration = Duration::from_millis(200);

/// The first line is `Retry-After`, the second is `Date`.
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
    let twice = RetryPolicy::default().with_attempts(2);
    let answers = vec![answer, reply(200, "{}")];
    let (result, took) = on(answers, async |stage| {
        let started = Instant::now();
        let result = stage.platform.apps().list().retry(twice).await;
        (result, started.elapsed())
    });
    let header = header.trim_ascii();
    let is_digits = !header.is_empty() && header.iter().all(u8::is_ascii_digit);
    let expected = match (is_digits, text(sent_at).and_then(seconds)) {
        (true, _) => text(header).map(|it| it.parse().unwrap_or(u64::MAX)),
        (false, Some(now)) => text(header)
            .and_then(seconds)
            .and_then(|at| at.checked_sub(now)),
        // By the clock of this machine.
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

const DAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];
const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// The seconds since 1970 of one of HTTP's three forms of a date: the instant of its fields, if that is written so.
fn seconds(text: &str) -> Option<u64> {
    let words: Vec<&str> = text
        .split([' ', '-'])
        .filter(|word| !word.is_empty())
        .collect();
    let [_, a, b, c, d, ..] = words[..] else {
        return None;
    };
    let is_c = a.parse::<u64>().is_err();
    let (day, month, year, time) = if is_c { (b, a, d, c) } else { (a, b, c, d) };
    let month = MONTHS.find(month).filter(|_| month.len() == 3)? / 3;
    let year = match (year.len(), year.parse::<u64>().ok()?) {
        (2, year) => year + if year < 70 { 2000 } else { 1900 },
        (_, year) => year,
    };
    let [hour, minute, second] = time
        .split(':')
        .map(|it| it.parse::<u64>().ok())
        .collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let (hour, minute, second) = (hour?, minute?, second?);
    if !(1970..=9999).contains(&year) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let february = if is_leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let day: u64 = day
        .parse()
        .ok()
        .filter(|day| (1..=months[month]).contains(day))?;
    let years: u64 = (1970..year)
        .map(|year| 365 + u64::from(is_leap(year)))
        .sum();
    let days = years + months[..month].iter().sum::<u64>() + day - 1;
    let (name, month) = (
        DAYS[usize::try_from(days % 7).ok()?],
        &MONTHS[month * 3..month * 3 + 3],
    );
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    let forms = [
        format!("{}, {day:02} {month} {year} {time} GMT", &name[..3]),
        format!("{name}, {day:02}-{month}-{:02} {time} GMT", year % 100),
        format!("{} {month} {day:2} {time} {year}", &name[..3]),
    ];
    let at = days * 86_400 + hour * 3_600 + minute * 60 + second;
    forms.iter().any(|form| form == text).then_some(at)
}
