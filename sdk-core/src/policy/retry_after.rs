//! Reading `Retry-After`.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, HeaderName, RETRY_AFTER};

/// The wait that a server asks for, in seconds or as a date in any of HTTP's three forms. A date is compared with the reply's
/// own `Date`, so that a wrong local clock does no harm, and with the local clock only if that is missing. A negative, past or
/// unreadable value asks for nothing.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Too many digits to parse mean a long wait; every use caps it.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let now = date(headers, &DATE).unwrap_or_else(SystemTime::now);
    let wait = date(headers, &RETRY_AFTER)?.duration_since(now).ok()?;
    (!wait.is_zero()).then_some(wait)
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let text = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::HeaderMap;

    use super::retry_after;

    fn asked(retry_after_text: &str, date: Option<&str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", retry_after_text.parse().unwrap());
        if let Some(date) = date {
            headers.insert("date", date.parse().unwrap());
        }
        retry_after(&headers)
    }

    #[test]
    fn seconds_and_all_three_forms_of_dates_are_understood() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        for later in [
            "Sun, 06 Nov 1994 08:49:57 GMT",
            "Sunday, 06-Nov-94 08:49:57 GMT",
            "Sun Nov  6 08:49:57 1994",
            "20",
        ] {
            assert_eq!(asked(later, date), Some(Duration::from_secs(20)), "{later}");
        }
        for nothing in ["Sun, 06 Nov 1994 08:49:37 GMT", "-1", "1.5", "soon", ""] {
            assert_eq!(asked(nothing, date), None, "{nothing}");
        }
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:57 GMT", None), None);
        assert!(asked("Fri, 31 Dec 9999 23:59:59 GMT", None).is_some());
        let endless = Some(Duration::from_secs(u64::MAX));
        assert_eq!(asked("100000000000000000000", date), endless);
    }
}
