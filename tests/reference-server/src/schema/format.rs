//! The formats of texts that business APIs use: whether a text has one, and a sample of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;

use crate::params;

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
        "byte" => STANDARD.encode(format!("sample {number}")),
        "decimal" => format!("{number}.00"),
        _ if turn == 0 => "sample".to_owned(),
        _ => format!("sample {number}"),
    }
}
