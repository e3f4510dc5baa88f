//! What the headers of replies announce about the end of their operations.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{HeaderMap, HeaderName, HeaderValue, LINK};
use url::Url;

use crate::app::App;
use crate::json::time::timestamp::Timestamp;
use crate::operation::Operation;

static DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
static SUNSET: HeaderName = HeaderName::from_static("sunset");

/// How many lines of one header are read, and how many bytes of a line with links.
const MOST_LINES: usize = 8;
const LONGEST_LINE: usize = 4096;

/// The seconds of the years 1 to 9999, which are all that a date of a structured header should have (RFC 9651).
const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// What replies of an operation announce about its end, by the headers `Deprecation` (RFC 9745), `Sunset` and `Link` (RFC
/// 8594). It prints as one sentence for a log, with times in UTC.
///
/// The contract shows no deprecation policy: that a suite sends these headers, and what it means by them, is known from the two
/// RFCs alone. So the SDK only reports them, once per operation and suite as the event `suite.reply.deprecated` and to
/// [`Observer::deprecated`](crate::Observer::deprecated), and each in the [`ContractReport`](crate::ContractReport). No call is
/// refused or changed. What cannot be read, such as `Deprecation: true` of an early draft, is an announcement without a date.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deprecation {
    /// The operation. One stands for all raw reads of paths that this SDK does not know, one for all such commands.
    pub operation: &'static Operation,
    /// The label of the installation, if it has one.
    pub installation: Option<Arc<str>>,
    /// From when on it is deprecated, which may be in the future.
    pub since: Option<SystemTime>,
    /// When it is expected to stop working.
    pub sunset: Option<SystemTime>,
    /// A page about it, without query and fragment, on one line; a notice if the link repeats something confidential.
    pub link: Option<String>,
}

impl Deprecation {
    /// What these headers announce, if anything. `shown` makes the link fit to be shown.
    pub(crate) fn of(
        operation: &'static Operation,
        installation: Option<&Arc<str>>,
        headers: &HeaderMap,
        shown: impl FnOnce(&str) -> String,
    ) -> Option<Self> {
        // An early draft has booleans.
        let says_no = |it: &HeaderValue| matches!(it.as_bytes(), b"?0" | b"false");
        let mut announced = headers
            .get_all(&DEPRECATION)
            .iter()
            .filter(|it| !says_no(it));
        if announced.next().is_none() && !headers.contains_key(&SUNSET) {
            return None;
        }
        let first = |name, read: fn(&str) -> Option<SystemTime>| {
            let mut lines = headers.get_all(name).iter().take(MOST_LINES);
            lines.find_map(|line| read(line.to_str().ok()?.trim()))
        };
        let link = link(headers, "deprecation").or_else(|| link(headers, "sunset"));
        Some(Self {
            operation,
            installation: installation.cloned(),
            since: first(&DEPRECATION, structured_date),
            sunset: first(&SUNSET, |text| httpdate::parse_http_date(text).ok()),
            link: link.map(|link| shown(link.as_str())),
        })
    }
}

impl fmt::Display for Deprecation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.operation;
        let (app, method) = (operation.application, operation.method.as_str());
        if operation.is_raw() {
            let is_command = operation.safety.is_command();
            let what = if is_command { "command" } else { "read" };
            write!(f, "a {what} of {app} on a path that this SDK does not know")?;
        } else {
            write!(f, "{app}.{operation} ({method} {})", operation.route)?;
        }
        let since = self.since.map(Timestamp::from);
        let since = since.map(|it| format!(" as deprecated from {it} on"));
        let sunset = self.sunset.map(Timestamp::from);
        let sunset = sunset.map(|it| format!(" to end on {it}"));
        let said = match (since, sunset) {
            (Some(since), Some(sunset)) => format!("{since} and{sunset}"),
            (since, sunset) => since
                .or(sunset)
                .unwrap_or_else(|| " to end, without a readable date".to_owned()),
        };
        write!(f, " is announced{said}")?;
        let mut link = self.link.iter();
        link.try_for_each(|link| write!(f, ": see {link}"))
    }
}

/// A date of a structured header, such as `@1688169599`; its parameters mean nothing.
fn structured_date(text: &str) -> Option<SystemTime> {
    let digits = text.split(';').next()?.trim_end().strip_prefix('@')?;
    let seconds: i64 = digits.parse().ok().filter(|it| YEARS.contains(it))?;
    let away = Duration::from_secs(seconds.unsigned_abs());
    match digits.as_bytes()[0] {
        b'+' => None,
        b'-' => UNIX_EPOCH.checked_sub(away),
        _ => UNIX_EPOCH.checked_add(away),
    }
}

/// The first absolute link of a relation (RFC 8288), without what may hold a secret.
fn link(headers: &HeaderMap, relation: &str) -> Option<Url> {
    let mut lines = headers.get_all(LINK).iter().take(MOST_LINES);
    lines.find_map(|line| {
        let line = &line.as_bytes()[..line.len().min(LONGEST_LINE)];
        parts(std::str::from_utf8(line).ok()?, ',').find_map(|link| {
            let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
            let rel = parts(parameters, ';').find_map(|parameter| {
                let (name, value) = parameter.split_once('=')?;
                name.trim().eq_ignore_ascii_case("rel").then_some(value)
            })?;
            let mut relations = rel.trim().trim_matches('"').split_ascii_whitespace();
            relations.find(|it| it.eq_ignore_ascii_case(relation))?;
            let mut url = Url::parse(target).ok()?;
            let is_web = matches!(url.scheme(), "https" | "http");
            url.set_query(None);
            url.set_fragment(None);
            (is_web && !url.authority().contains('@')).then_some(url)
        })
    })
}

/// The parts of a header between separators, except those in quotes and in the address of a link.
fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut in_quotes, mut in_address) = (false, false);
    text.split(move |letter| {
        match letter {
            '"' if !in_address => in_quotes = !in_quotes,
            '<' | '>' if !in_quotes => in_address = letter == '<',
            _ => {}
        }
        letter == separator && !in_quotes && !in_address
    })
}

/// The latest announcement for each operation, with what an earlier one said and it does not.
#[derive(Debug, Default)]
pub(crate) struct Announced(Mutex<Vec<Deprecation>>);

impl Announced {
    /// Keeps an announcement. Whether it is the first of its operation.
    pub(crate) fn keep(&self, mut latest: Deprecation) -> bool {
        let key = |it: &Deprecation| {
            let operation = it.operation;
            (operation.application, operation.id, operation.method)
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.len();
        let known = all.iter().position(|known| key(known) == key(&latest));
        if let Some(known) = known.map(|place| all.remove(place)) {
            latest.since = latest.since.or(known.since);
            latest.sunset = latest.sunset.or(known.sunset);
            latest.link = latest.link.or(known.link);
        }
        all.push(latest);
        all.len() > before
    }

    /// Those for the operations of an application.
    pub(crate) fn of(&self, app: App) -> Vec<Deprecation> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter().filter(|it| it.operation.application == app);
        own.cloned().collect()
    }
}
