//! Parses RFC 3339 dates and timestamps in a single pass over the bytes.

const SECONDS_A_DAY: i64 = 24 * 60 * 60;

/// The number of days of a common year before each month, and before the next year.
const BEFORE_MONTH: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/// A point in time independent of its notation, in chronological order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Instant<'a> {
    /// Seconds since the Unix epoch, in UTC. A leap second counts as the second before it.
    pub(super) second: i64,
    /// The digits of the fraction, without trailing zeros.
    pub(super) fraction: &'a [u8],
}

/// Parses a timestamp, also with a space instead of the `T` (which RFC 3339 mentions) or a leap second at any time.
pub(super) fn instant(text: &[u8]) -> Option<Instant<'_>> {
    let (date, rest) = text.split_first_chunk()?;
    let day = day(date)?;
    let (time, rest) = rest.split_first_chunk()?;
    let &[b'T' | b't' | b' ', h1, h2, b':', m1, m2, b':', s1, s2] = time else {
        return None;
    };
    let (hour, minute) = (up_to(23, [h1, h2])?, up_to(59, [m1, m2])?);
    let second = up_to(60, [s1, s2])?;
    let (mut fraction, zone) = fraction(rest)?;
    while let [digits @ .., b'0'] = fraction {
        fraction = digits;
    }
    let minute = day * 24 * 60 + hour * 60 + minute - offset(zone)?;
    Some(Instant {
        second: minute * 60 + second.min(59),
        fraction,
    })
}

/// Splits off the digits after the decimal point, if there is a decimal point.
fn fraction(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let [b'.', rest @ ..] = text else {
        return Some((&[], text));
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| rest.split_at(digits))
}

/// The offset of a time zone from UTC, in minutes.
fn offset(zone: &[u8]) -> Option<i64> {
    match *zone {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let minutes = up_to(23, [h1, h2])? * 60 + up_to(59, [m1, m2])?;
            Some(if sign == b'-' { -minutes } else { minutes })
        }
        _ => None,
    }
}

/// Whether a string is a strict timestamp, with a `T`, and with a leap second only at the end of a month in UTC.
pub(super) fn is_instant(text: &[u8]) -> bool {
    instant(text).is_some_and(|Instant { second, .. }| {
        let next = second + 1;
        let ends_month = next % SECONDS_A_DAY == 0 && civil(next / SECONDS_A_DAY).2 == 1;
        let is_leap = text.get(17..19) == Some(b"60");
        text.get(10) != Some(&b' ') && (!is_leap || ends_month)
    })
}

pub(super) fn is_date(text: &[u8]) -> bool {
    text.try_into().is_ok_and(|date| day(date).is_some())
}

/// The number of days from the Unix epoch to a date.
fn day(date: &[u8; 10]) -> Option<i64> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else {
        return None;
    };
    let year = up_to(9_999, [y1, y2, y3, y4])?;
    let (month, day) = (up_to(12, [m1, m2])?, up_to(31, [d1, d2])?);
    let first = before_month(year, month.checked_sub(1)?)?;
    let length = before_month(year, month)? - first;
    (1..=length)
        .contains(&day)
        .then(|| before_year(year) + first + day - 1)
}

/// The number that the digits form, if it isn't greater than `most`.
fn up_to<const N: usize>(most: i64, digits: [u8; N]) -> Option<i64> {
    let number = digits.iter().try_fold(0, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| digit - b'0')?;
        Some(number * 10 + i64::from(digit))
    })?;
    (number <= most).then_some(number)
}

/// The year, month and day of a day number since the Unix epoch, in the proleptic Gregorian calendar.
pub(super) fn civil(day: i64) -> (i64, i64, i64) {
    // 400 years have 146,097 days, so the estimate is wrong by at most a year.
    let mut year = 1970 + (day * 400).div_euclid(146_097);
    if before_year(year) > day {
        year -= 1;
    } else if before_year(year + 1) <= day {
        year += 1;
    }
    let day = day - before_year(year);
    let starts = |month: i64| before_month(year, month).filter(|start| *start <= day);
    let (month, start) = (0..12)
        .rev()
        .find_map(|month| Some((month, starts(month)?)))
        .unwrap_or_default();
    (year, month + 1, day - start + 1)
}

/// The number of days from the Unix epoch to the start of a year.
fn before_year(year: i64) -> i64 {
    let past = year - 1;
    let leaps = past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400);
    365 * year + leaps - 719_527
}

/// The number of days of a year before a month. Months count from 0, and 12 is the end of the year.
fn before_month(year: i64, month: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let common = BEFORE_MONTH.get(usize::try_from(month).ok()?)?;
    Some(common + i64::from(is_leap && month > 1))
}

#[cfg(test)]
mod tests {
    use super::{civil, day};

    #[test]
    fn every_day_of_eight_hundred_years_converts_to_a_date_and_back() {
        for number in -146_097..146_097 {
            let (year, month, date) = civil(number);
            let text = format!("{year:04}-{month:02}-{date:02}");
            let text = text.as_bytes().try_into().unwrap();
            assert_eq!(day(text), Some(number));
        }
    }
}
