//! The string and number formats that business APIs use: checks and samples.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Span;
use jiff::civil::{Date, Time};
use serde_json::Value;

use crate::params;

/// The formats that are checked, and formats that restrict nothing.
const KNOWN: [&str; 18] = [
    "date-time",
    "date",
    "time",
    "duration",
    "uuid",
    "email",
    "uri",
    "ipv4",
    "ipv6",
    "byte",
    "int32",
    "int64",
    "float",
    "double",
    "decimal",
    "password",
    "binary",
    "string",
];

pub(super) fn is_known(format: &str) -> bool {
    KNOWN.contains(&format)
}

/// Whether a value has the format. Every value has an unknown format.
pub(super) fn holds(format: &str, value: &Value) -> bool {
    let whole = value.as_i64();
    match (format, value) {
        ("int32", Value::Number(_)) => whole.is_some_and(|it| i32::try_from(it).is_ok()),
        ("int64", Value::Number(_)) => whole.is_some(),
        (_, Value::String(text)) => text_holds(format, text),
        _ => true,
    }
}

fn text_holds(format: &str, text: &str) -> bool {
    match format {
        "date-time" => params::date_time("", Some(text)).is_ok(),
        "date" => text.len() == 10 && text.parse::<Date>().is_ok(),
        // Some vendors omit the offset of a time.
        "time" => {
            params::date_time("", Some(&format!("2026-01-01T{text}"))).is_ok()
                || text.parse::<Time>().is_ok()
        }
        "duration" => text.starts_with('P') && text.parse::<Span>().is_ok(),
        "uuid" => {
            let lengths = text.split('-').map(str::len);
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
            lengths.eq([8, 4, 4, 4, 12]) && text.split('-').all(digits)
        }
        "email" => {
            let parts = text.split_once('@');
            parts.is_some_and(|(name, host)| {
                !name.is_empty() && !host.is_empty() && !host.contains('@')
            })
        }
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
            let begins = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
            begins && scheme.bytes().all(fits) && !rest.contains([' ', '"', '<', '>'])
        }),
        "byte" => STANDARD.decode(text).is_ok(),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        _ => true,
    }
}

/// Returns a sample of the format, different for each turn. For an unknown format, it is a word.
pub(super) fn sample(format: &str, turn: usize) -> String {
    let number = turn + 1;
    let day = turn % 28 + 1;
    match format {
        "date-time" => format!("2026-01-{day:02}T09:00:00Z"),
        "date" => format!("2026-01-{day:02}"),
        "time" => format!("09:{:02}:00Z", turn % 60),
        "duration" => format!("P{number}D"),
        "uuid" => format!("00000000-0000-4000-8000-{number:012x}"),
        "email" => format!("sample{number}@example.com"),
        "uri" | "url" => format!("https://example.com/{number}"),
        "ipv4" => format!("192.0.2.{}", number % 256),
        "ipv6" => format!("2001:db8::{number:x}"),
        "byte" => STANDARD.encode(format!("sample {number}")),
        "decimal" => format!("{number}.00"),
        _ if turn == 0 => "sample".to_owned(),
        _ => format!("sample {number}"),
    }
}
