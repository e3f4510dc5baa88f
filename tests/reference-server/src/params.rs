//! Decodes queries and forms, and parses RFC 3339 instants.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use percent_encoding::percent_decode_str;
use serde::de::{Deserialize, Deserializer, Error as _};

use crate::refusal::Refusal;

/// The parameters of a request. A value that can't be decoded fails only its own parameter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, Option<String>)>);

impl Query {
    pub(crate) fn parse(raw: Option<&str>) -> Query {
        let pairs = raw
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty());
        let decoded = pairs.filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((form_decode(name).ok()?, form_decode(value).ok()))
        });
        Query(decoded.collect())
    }

    /// Returns each name with its value; `None` if the value is not UTF-8.
    pub(crate) fn into_pairs(self) -> impl Iterator<Item = (String, Option<String>)> {
        self.0.into_iter()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Returns every value of a parameter, in order.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, Refusal> {
        let values = self.0.iter().filter(|(key, _)| key == name);
        let texts: Option<Vec<String>> = values.map(|(_, value)| value.clone()).collect();
        texts.ok_or_else(|| Refusal::invalid("not valid UTF-8"))
    }
}

pub(crate) fn date_time(name: &str, given: Option<&str>) -> Result<Option<Timestamp>, Refusal> {
    let wrong = || Refusal::invalid(format!("{name}: must be an RFC 3339 date-time"));
    given
        .map(|text| instant(text).ok_or_else(wrong))
        .transpose()
}

/// Decodes a string in `application/x-www-form-urlencoded`, and rejects everything but UTF-8.
pub(crate) fn form_decode(text: &str) -> Result<String, Refusal> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced)
        .decode_utf8()
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| Refusal::invalid("percent-encoded text is not valid UTF-8"))
}

/// Parses an RFC 3339 date-time strictly.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let (head, mut rest) = text.as_bytes().split_at_checked(19)?;
    let shaped = head
        .iter()
        .zip(b"0000-00-00T00:00:00")
        .all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte.eq_ignore_ascii_case(form),
        });
    if !shaped {
        return None;
    }
    let mut digits = 0;
    if let [b'.', tail @ ..] = rest {
        digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        rest = &tail[digits..];
    }
    let number = |digits: &[u8]| {
        let next = |number: i32, digit: &u8| number * 10 + i32::from(digit - b'0');
        digits.iter().fold(0, next)
    };
    let offset = match rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let digits = [h1, h2, m1, m2].map(|byte| *byte);
            let plain = digits.iter().all(u8::is_ascii_digit);
            if !plain {
                return None;
            }
            let (hours, minutes) = (number(&digits[..2]), number(&digits[2..]));
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 60 + minutes) * if *sign == b'-' { -60 } else { 60 }
        }
        _ => return None,
    };
    // The fraction is cut to nine digits. A leap second becomes the second before it.
    let fraction = text.as_bytes().get(20..20 + digits.min(9));
    let nanos = number(fraction.unwrap_or_default());
    let nanos = (digits.min(9)..9).fold(nanos, |nanos, _| nanos * 10);
    let part = |from: usize, to: usize| number(&head[from..to]);
    let second = Some(part(17, 19)).filter(|second| *second <= 60)?.min(59);
    let small = |number: i32| i8::try_from(number).ok();
    let civil = DateTime::new(
        i16::try_from(part(0, 4)).ok()?,
        small(part(5, 7))?,
        small(part(8, 10))?,
        small(part(11, 13))?,
        small(part(14, 16))?,
        small(second)?,
        nanos,
    );
    let civil = civil.ok()?;
    match Offset::from_seconds(offset).ok()?.to_timestamp(civil) {
        Ok(at) => Some(at).filter(|at| *at >= YEAR_ZERO),
        // In some offsets, the last day of the year 9999 is beyond the range of `Timestamp`.
        Err(_) => (civil.year() == 9999).then_some(Timestamp::MAX),
    }
}

pub(crate) fn optional_instant<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let read = |text: String| instant(&text).ok_or_else(|| D::Error::custom("no date-time"));
    text.map(read).transpose()
}

/// The earliest instant that RFC 3339 can express.
pub(crate) const YEAR_ZERO: Timestamp = Timestamp::constant(-62_167_219_200, 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rfc_3339_is_an_instant() {
        for good in [
            "2026-01-15T09:00:00Z",
            "2026-01-15t09:00:00.123z",
            "2026-01-15T09:00:00+02:00",
            "2016-12-31T23:59:60Z",
            "2017-01-01T05:29:60.5+05:30",
            "2026-01-15T09:00:00.1234567890123456789-23:59",
            "9999-12-31T23:59:59Z",
            "9999-12-31t23:59:59.999999999999z",
            "9999-12-31T23:59:59-23:59",
            "0000-01-01T00:00:00Z",
        ] {
            assert!(instant(good).is_some(), "{good}");
        }
        for bad in [
            "2026-01-15",
            "2026-01-15 09:00:00Z",
            "2026-01-15T09:00Z",
            "2026-13-15T09:00:00Z",
            "2026-01-15T09:00:00",
            "2026-01-15T09:00:00+0200",
            "2026-01-15T09:00:00Z[UTC]",
            "yesterday",
            "é",
            "0000-01-01T00:00:00+02:00",
            "2026-01-15T09:00:00.Z",
            "2026-01-15T09:00:00+24:00",
            "2026-01-15T09:00:00+00:60",
            "2026-01-15T09:00:61Z",
            "2026-01-15T24:00:00Z",
            "2026-02-29T09:00:00Z",
        ] {
            assert!(instant(bad).is_none(), "{bad}");
        }
    }
}
