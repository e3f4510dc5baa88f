use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::percent_decode_str;
use secrecy::zeroize::Zeroizing;
use url::form_urlencoded::byte_serialize;

use crate::text::is_invisible;

/// The length in bytes of the pieces of a secret that are searched for, in any encoding.
const PIECE: usize = 12;

/// The number of pieces of a long secret that are searched for, in addition to its last piece. They begin at equal
/// distances, so an excerpt of a long secret must be longer than a piece to be found: 18 bytes for a 64-byte secret.
const MOST_PIECES: usize = 8;

/// A piece with at least this many letters and digits is found anywhere. A normal word can have this length, so a
/// message that contains such a value by accident is also redacted.
const MIN_MATCH: usize = 8;

/// [`MIN_MATCH`] for letters mixed with digits, which words don't have.
const MIN_MIXED_MATCH: usize = 5;

/// The number of leading bytes of each pattern that [`Starts`] compares.
const START: usize = 5;

/// The maximum number of pattern bytes for the secrets of a group.
const MOST_BYTES: usize = 64 * 1024;

/// The maximum length of an HTML character reference after `&`, enough for each character with a few leading zeros.
const LONGEST_REFERENCE: usize = 12;

/// The pieces of some secrets, folded, unencoded and in the encodings that hide their characters.
pub(super) struct Forms {
    /// Pieces that count only as separate words, because a short secret occurs within longer words by accident.
    words: BTreeSet<String>,
    anywhere: BTreeSet<String>,
}

impl Forms {
    /// Returns `None` if there are too many.
    pub(super) fn of(secrets: &[Zeroizing<String>]) -> Option<Self> {
        let (mut words, mut anywhere, mut bytes) = (BTreeSet::new(), BTreeSet::new(), 0);
        for piece in secrets.iter().flat_map(|secret| pieces(secret)) {
            let encoded = encoded(piece).into_iter().map(|form| (form, false));
            for (form, may_be_word) in [(piece.to_owned(), true)].into_iter().chain(encoded) {
                let form = fold(&form);
                let length = form.len();
                let is_new = if is_distinctive(&form) {
                    anywhere.insert(form)
                } else {
                    // A few letters of base64 match too often by accident.
                    may_be_word && length > 0 && words.insert(form)
                };
                bytes += if is_new { length } else { 0 };
                if bytes > MOST_BYTES {
                    return None;
                }
            }
        }
        Some(Self { words, anywhere })
    }
}

/// The first bytes of all [`Forms`]. A folded string without any of them contains no form. They take a hundredth of the
/// memory of [`Patterns`], so they are stored with each secret.
pub(super) struct Starts {
    /// Sorted.
    starts: Box<[u64]>,
    has_shorter: bool,
}

impl Starts {
    pub(super) fn of(forms: &Forms) -> Self {
        let all = || forms.words.iter().chain(&forms.anywhere);
        let start = |form: &String| form.as_bytes().get(..START).map(number);
        let starts: BTreeSet<_> = all().filter_map(start).collect();
        Self {
            starts: starts.into_iter().collect(),
            has_shorter: all().any(|form| form.len() < START),
        }
    }

    /// Whether [`Patterns`] must search a folded string.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        let mut windows = text.as_bytes().windows(START).map(number);
        self.has_shorter || windows.any(|window| self.starts.binary_search(&window).is_ok())
    }
}

/// Packs up to eight bytes into a number.
fn number(bytes: &[u8]) -> u64 {
    let append = |number, byte: &u8| number << 8 | u64::from(*byte);
    bytes.iter().fold(0, append)
}

/// The [`Forms`] as an automaton. The search time is proportional to the length of the string, for any secrets. The
/// first valid match ends the search, and at most [`MIN_MATCH`] rejected matches end at the same character.
pub(super) struct Patterns {
    automaton: AhoCorasick,
    /// The number of patterns, at the beginning, that are words.
    words: usize,
}

impl Patterns {
    /// Returns `None` if there are too many patterns for an automaton.
    pub(super) fn of(forms: &Forms) -> Option<Self> {
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.words.iter().chain(&forms.anywhere))
            .ok()?;
        let words = forms.words.len();
        Some(Self { automaton, words })
    }

    pub(super) fn are_in(&self, text: &str) -> bool {
        let mut hits = self.automaton.find_overlapping_iter(text);
        hits.any(|hit| {
            hit.pattern().as_usize() >= self.words || stands_alone(text, hit.start(), hit.end())
        })
    }
}

/// Folds a string for comparison: lower case, without invisible characters, and with a single space for each gap. Apart
/// from the case, messages are printed in this form.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_whitespace() || character.is_control() {
            if !folded.ends_with(' ') {
                folded.push(' ');
            }
        } else if character.is_ascii() {
            folded.push(character.to_ascii_lowercase());
        } else if !is_invisible(character) {
            folded.extend(character.to_lowercase());
        }
    }
    folded
}

/// Returns the [folded](fold) string, and its versions without the escapes of URLs, forms, JSON and HTML, if it has
/// any. Encoders differ in which characters they escape, and how.
pub(super) fn readings(text: &str) -> Vec<String> {
    let text = fold(text);
    let percent = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut decoded = Vec::new();
    if text.contains('%') {
        decoded.push(percent(&text));
    }
    if text.contains('+') {
        decoded.push(percent(&text.replace('+', " ")));
    }
    if text.contains('\\') {
        decoded.push(without_json_escapes(&text));
    }
    if text.contains('&') {
        decoded.push(without_html_escapes(&text));
    }
    let mut readings: Vec<_> = decoded.iter().map(|it| fold(it)).collect();
    readings.push(text);
    readings
}

fn without_json_escapes(text: &str) -> String {
    let mut units = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        units.extend(before.encode_utf16());
        let digits = after.strip_prefix('u').and_then(|it| it.get(..4));
        let unit = digits.and_then(|it| u16::from_str_radix(it, 16).ok());
        let length = match (unit, after.chars().next()) {
            (Some(unit), _) => {
                units.push(unit);
                "u0000".len()
            }
            (None, Some('b' | 'f' | 'n' | 'r' | 't')) => {
                units.push(b' '.into());
                1
            }
            (None, Some(character)) => {
                units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
                character.len_utf8()
            }
            (None, None) => 0,
        };
        rest = &after[length..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16_lossy(&units)
}

fn without_html_escapes(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        decoded.push_str(before);
        let end = after
            .bytes()
            .take(LONGEST_REFERENCE)
            .position(|it| it == b';');
        let character = end.and_then(|end| html_character(&after[..end]));
        decoded.push(character.unwrap_or('&'));
        rest = match (character, end) {
            (Some(_), Some(end)) => &after[end + 1..],
            _ => after,
        };
    }
    decoded + rest
}

/// Returns the character for `&name;`. Supports only the names that HTML requires, and numbers.
fn html_character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "apos" => Some('\''),
        "gt" => Some('>'),
        "lt" => Some('<'),
        "quot" => Some('"'),
        _ => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)
        }
    }
}

/// Whether a form is unlikely to be in a message by accident.
fn is_distinctive(form: &str) -> bool {
    let letters = || form.chars().filter(|it| it.is_alphanumeric()).count();
    let is_mixed = || form.contains(|it: char| it.is_ascii_digit());
    form.len() >= PIECE || letters() >= MIN_MATCH || letters() >= MIN_MIXED_MATCH && is_mixed()
}

/// Whether a part of a string is not part of a longer word.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_edge = |outer: Option<char>, inner: Option<char>| {
        !(outer.is_some_and(char::is_alphanumeric) && inner.is_some_and(char::is_alphanumeric))
    };
    let (before, word, after) = (&text[..start], &text[start..end], &text[end..]);
    is_edge(before.chars().next_back(), word.chars().next())
        && is_edge(after.chars().next(), word.chars().next_back())
}

/// Returns the pieces of a secret to search for, including the first and the last. A short secret is a single piece.
fn pieces(secret: &str) -> impl Iterator<Item = &str> {
    let secret = secret.trim();
    let last = secret.len().saturating_sub(PIECE);
    let step = last.div_ceil(MOST_PIECES).max(1);
    let starts = (0..last).step_by(step).chain([last]);
    starts.map(move |start| {
        let end = (start + PIECE).min(secret.len());
        let start = (0..=start).rev().find(|at| secret.is_char_boundary(*at));
        let end = (end..secret.len()).find(|at| secret.is_char_boundary(*at));
        &secret[start.unwrap_or_default()..end.unwrap_or(secret.len())]
    })
}

/// Encodes a piece as hexadecimal digits and as base64. HTTP Basic uses base64 of the form-encoded piece.
fn encoded(piece: &str) -> Vec<String> {
    let digit = |digit: u8| char::from_digit(digit.into(), 16);
    let digits = piece
        .bytes()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    let mut forms = vec![digits.flatten().collect()];
    forms.extend(in_base64(piece));
    let in_form: String = byte_serialize(piece.as_bytes()).collect();
    if in_form != piece {
        forms.extend(in_base64(&in_form));
    }
    forms
}

/// Encodes a piece as base64 in each alphabet (standard, URL, IMAP) and at each offset within a group of three bytes,
/// without the characters that depend on adjacent bytes.
fn in_base64(piece: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let bytes = [&[0; 2][..before], piece.as_bytes()].concat();
        let form = STANDARD_NO_PAD.encode(&bytes);
        // Each character has six bits, so the first and the last also encode the adjacent bytes.
        let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        let form = &form[start.min(end)..end];
        forms.push(form.to_owned());
        if form.contains(['+', '/']) {
            forms.push(form.replace('+', "-").replace('/', "_"));
            forms.push(form.replace('/', ","));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::{Forms, Patterns, Starts, pieces, readings};

    #[test]
    fn pieces_cover_the_first_and_the_last_byte() {
        assert_eq!(pieces(" short ").collect::<Vec<_>>(), ["short"]);
        let secret: String = ('a'..='z').chain('A'..='Z').collect();
        let all: Vec<_> = pieces(&secret).collect();
        assert_eq!((all[0], all[8]), ("abcdefghijkl", "OPQRSTUVWXYZ"));
        assert!((all.len(), all[1]) == (9, "fghijklmnopq"));
        // Characters are not split.
        assert_eq!(pieces(&"é€".repeat(9)).next(), Some("é€é€é"));
    }

    #[test]
    fn each_encoding_of_a_secret_is_found() {
        let secret = "aé<b>+/&\"'=\\\u{1f511} c?";
        let forms = Forms::of(&[secret.to_owned().into()]).unwrap();
        let (starts, patterns) = (Starts::of(&forms), Patterns::of(&forms).unwrap());
        assert!(!starts.has_shorter);
        for text in [
            r#"aé<b>+/&"'=\🔑 c?"#,
            "a%C3%A9%3Cb%3E%2B%2F%26%22%27%3D%5C%F0%9F%94%91%20c%3F",
            "a%c3%a9%3cb%3e+/&%22'=%5c%f0%9f%94%91%20c?",
            "a%C3%A9%3Cb%3E%2B%2F%26%22%27%3D%5C%F0%9F%94%91+c%3F",
            r#"aé<b>+/&\"'=\\🔑 c?"#,
            r#"aé<b>+\/&\"'=\\🔑 c?"#,
            r#"a\u00e9<b>+/&\"'=\\\ud83d\udd11 c?"#,
            r"a\u00e9\u003cb\u003e\u002b/\u0026\u0022\u0027=\\\ud83d\udd11 c?",
            "aé&lt;b&gt;+/&amp;&quot;&#39;=\\\u{1f511} c?",
            "aé&lt;b&gt;&#43;/&amp;&#34;&#39;=\\\u{1f511} c?",
            "aé&lt;b&gt;+&#x2F;&amp;&quot;&#x27;&#x3D;\\\u{1f511} c?",
            // Text nodes, attributes, PHP, Python, Mustache, OWASP, ASP.NET.
            "aé&lt;b&gt;+/&amp;\"'=\\\u{1f511} c?",
            "aé&lt;b&gt;+/&amp;&quot;'=\\\u{1f511} c?",
            "aé&lt;b&gt;+/&amp;&quot;&#039;=\\\u{1f511} c?",
            "aé&lt;b&gt;+/&amp;&quot;&#x27;=\\\u{1f511} c?",
            "aé&lt;b&gt;+&#x2F;&amp;&quot;&#39;&#x3D;\\\u{1f511} c?",
            "aé&lt;b&gt;+/&amp;&#x22;&#x27;=\\\u{1f511} c?",
            "a&#xE9;&lt;b&gt;&#x2B;/&amp;&quot;&#x27;=\\&#x1F511; c?",
            // Go and Rails, Django, Gson.
            r#"aé\u003cb\u003e+/\u0026\"'=\\🔑 c?"#,
            r#"a\u00e9\u003cb\u003e+/\u0026\"'=\\\ud83d\udd11 c?"#,
            r#"aé\u003cb\u003e+/\u0026\"\u0027\u003d\\🔑 c?"#,
            "YcOpPGI+Ky8mIic9XPCflJEgYz8",
            "YcOpPGI-Ky8mIic9XPCflJEgYz8",
            "P2HDqTxiPisvJiInPVzwn5SRIGM_",
            "61C3A93C623E2B2F2622273D5CF09F949120633F",
        ] {
            let readings = readings(&format!("it was {text}!"));
            let mut found = readings
                .iter()
                .map(|it| starts.may_be_in(it) && patterns.are_in(it));
            assert!(found.any(|it| it), "{text}");
        }
    }

    #[test]
    fn invalid_escapes_stay_unchanged() {
        let text = r"%4 %zz &; &#; &#x; &#x110000; &nope; &amp &#0000000000039; a+b";
        assert_eq!(readings(text), [text, &text.replace('+', " "), text, text]);
        let text = r"\u12 \ué€é€ \ud83d\n\";
        assert_eq!(readings(text), ["u12 ué€é€ \u{fffd} ", text]);
    }
}
