//! The formats of texts that business APIs use: whether a text has one, and a sample of it.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Span;
use jiff::civil::{Date, Time};

use crate::params;

/// The formats that are checked, and those of which nothing can be said.
const KNOWN: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "uuid",
    "email",
    "uri",
    "hostname",
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

/// Whether `text` has the format; one that is not known here holds for every text.
pub(super) fn holds(format: &str, text: &str) -> bool {
    match format {
        "date-time" => params::date_time("", Some(text)).is_ok(),
        "date" => text.len() == 10 && text.parse::<Date>().is_ok(),
        "uuid" => {
            let hex = |byte: u8| byte.is_ascii_hexdigit();
            let lengths = text.split('-').map(str::len);
            lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|byte| byte == b'-' || hex(byte))
        }
        "email" => {
            let parts: Vec<&str> = text.split('@').collect();
            parts.len() == 2 && parts.iter().all(|part| !part.is_empty())
        }
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
            let begins = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
            begins && scheme.bytes().all(fits) && !rest.contains([' ', '"', '<', '>'])
        }),
        "byte" => STANDARD.decode(text).is_ok(),
        // Not every maker says of what offset a time is.
        "time" => {
            params::date_time("", Some(&format!("2026-01-01T{text}"))).is_ok()
                || text.parse::<Time>().is_ok()
        }
        "duration" => text.starts_with('P') && text.parse::<Span>().is_ok(),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "hostname" => {
            text.len() < 254
                && text.split('.').all(|label| {
                    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
                    (1..64).contains(&label.len())
                        && label.bytes().all(fits)
                        && label.trim_matches('-') == label
                })
        }
        _ => true,
    }
}

/// A text of the format, another one for each turn; a word where the format is not known.
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
        "hostname" => format!("host{number}.example.com"),
        "ipv4" => format!("192.0.2.{}", number % 256),
        "ipv6" => format!("2001:db8::{number:x}"),
        "byte" => STANDARD.encode(format!("sample {number}")),
        "decimal" => format!("{number}.00"),
        _ if turn == 0 => "sample".to_owned(),
        _ => format!("sample {number}"),
    }
}
