//! Confidential values, and the encoded forms that the SDK searches for (row 41).

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

/// The client secret. No part of these values is an English word or part of one.
pub(super) const SECRET: &str = "Zx9q+Wv7/kT3=pL5 mQ1%rB8";
pub(super) const TOKEN: &str = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ6cTl4d3Y3In0.Hk4Jq8sWm2Xv6Tz1";
pub(super) const KEY: &str = "qzx-7Jk2-vW9p-3Rt6-8Lm4";
pub(super) const HEADER: &str = "hV5x.Qj8w_Zk2n";
pub(super) const QUERY: &str = "nX4k Wq7z&Jv9";
/// A form field of the credentials, with characters that every encoder writes differently.
pub(super) const FIELD: &str = r#"q"7<b>&'ük9"z2>'&w8"#;

pub(super) const ALL: [&str; 6] = [SECRET, TOKEN, KEY, HEADER, QUERY, FIELD];

/// Returns a value in each form, and its truncated parts.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let form: String = byte_serialize(secret.as_bytes()).collect();
    let digits = secret.bytes().map(|byte| format!("{byte:02x}"));
    let hex = digits.collect::<Vec<_>>().concat();
    let json = Value::from(secret).to_string();
    let json = json.trim_matches('"').trim_end_matches('\\');
    let html = secret.replace('&', "&amp;").replace('<', "&lt;");
    let html = html.replace('>', "&gt;").replace('"', "&quot;");
    let escaped = |escape: fn(u32) -> String| -> String {
        let one = |character: char| {
            if character.is_ascii_alphanumeric() {
                character.to_string()
            } else {
                escape(character.into())
            }
        };
        secret.chars().map(one).collect()
    };
    let letters: Vec<char> = secret.chars().collect();
    let part = |from: usize, to: usize| letters[from..to].iter().collect::<String>();
    let (count, half) = (letters.len(), letters.len() / 2);
    vec![
        secret.to_owned(),
        secret.to_uppercase(),
        percent.to_lowercase(),
        percent,
        form.to_lowercase(),
        STANDARD.encode(format!("client:{form}")),
        form,
        json.to_owned(),
        json.replace('/', "\\/"),
        escaped(|character| format!("\\u{character:04x}")),
        html.replace('\'', "&#39;"),
        html.replace('\'', "&apos;"),
        escaped(|character| format!("&#{character};")),
        escaped(|character| format!("&#x{character:X};")),
        STANDARD.encode(secret),
        STANDARD_NO_PAD
            .encode(format!("?{secret}"))
            .replace('/', ","),
        URL_SAFE_NO_PAD.encode(format!("ab{secret}cd")),
        hex.to_uppercase(),
        hex,
        format!("{}…", part(0, 12)),
        format!("…{}…", part(half - half.min(9), half + half.min(9))),
        part(count - 12, count),
    ]
}

/// Returns the alphanumeric characters of a string in lower case, because strings may be split or capitalized.
fn bare(text: &str) -> String {
    let letters = text.chars().filter(|it| it.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The first characters of all forms of all values that identify a value anywhere, and of their bytes in `Debug`
/// notation.
static LEAKS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let mut leaks = Vec::new();
    for secret in ALL {
        let least = bare(secret).chars().count().min(12);
        let bytes = format!("{:?}", secret.as_bytes());
        for form in forms(secret).into_iter().chain([bytes]) {
            let begin: String = bare(&form).chars().take(12).collect();
            if begin.chars().count() >= least {
                leaks.push((secret, begin));
            }
        }
    }
    leaks.sort();
    leaks.dedup();
    leaks
});

#[track_caller]
pub(super) fn assert_nothing_leaks(printed: &str, about: &str) {
    for line in printed.lines() {
        let printed_letters = bare(line);
        if let Some((secret, leak)) = LEAKS
            .iter()
            .find(|(_, leak)| printed_letters.contains(leak))
        {
            panic!("{about}: {leak} of {secret} in: {line}");
        }
    }
}
