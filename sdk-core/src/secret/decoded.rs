//! The forms in which a text may contain another: escaped, encoded, or broken up.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// How many layers are decoded. Nothing is encoded more often by accident.
const DEEPEST: usize = 3;

/// The fewest characters that may be an encoding.
const SHORTEST_RUN: usize = 8;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);

/// The text itself, and what it decodes to: escapes (percent, JSON, HTML and the like), base64, hexadecimal digits and lists
/// of bytes. All runs that are decoded in the same way make one form. However many runs there are, the forms stay few, and
/// each layer is hardly longer than the one before.
pub(super) fn forms(text: &str) -> Vec<Cow<'_, str>> {
    let mut forms = vec![Cow::Borrowed(text)];
    let mut from = 0;
    for _ in 0..DEEPEST {
        let to = forms.len();
        for at in from..to {
            let form = &forms[at];
            let mut inner = vec![unescaped(form)];
            let base64 = runs(form, is_base64);
            inner.extend((0..4).map(|start| joined(&base64, |run| from_base64(run, start))));
            let hex = runs(form, |c| c.is_ascii_hexdigit());
            inner.extend((0..2).map(|start| joined(&hex, |run| from_hex(run.get(start..)?))));
            inner.extend(from_numbers(form));
            inner.extend(from_hex_list(form));
            for form in inner {
                if !form.is_empty() && !forms.iter().any(|known| *known == form) {
                    forms.push(Cow::Owned(form));
                }
            }
        }
        from = to;
    }
    forms
}

/// What runs decode to, one after the other.
fn joined(runs: &[String], decode: impl Fn(&str) -> Option<String>) -> String {
    let decoded: Vec<_> = runs.iter().filter_map(|run| decode(run)).collect();
    decoded.join(" ")
}

/// Undoes one layer of `%41`, `=41`, `\x41`, `\u0041`, `\u{41}`, `\101`, `&#65;`, `&#x41;` and HTML's named entities.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = match first {
            '%' | '=' => digits(&rest[1..], 16, 2, 2),
            '\\' => backslash(&rest[1..]),
            '&' => entity(&rest[1..]),
            _ => None,
        };
        let (value, length) = found.map_or((None, first.len_utf8()), |(value, length)| {
            (Some(value), 1 + length)
        });
        match value.map(|value| (value, char::from_u32(value))) {
            // The bytes of a character may be escaped one by one.
            Some((value @ 0..=255, _)) if is_of_bytes(rest) => bytes.extend(u8::try_from(value)),
            Some((_, Some(character))) => {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => bytes.extend_from_slice(&rest.as_bytes()[..length]),
        }
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether an escape stands for a byte rather than a character.
fn is_of_bytes(escape: &str) -> bool {
    let mut characters = escape.chars();
    match characters.next() {
        Some('%' | '=') => true,
        Some('\\') => matches!(characters.next(), Some('x' | '0'..='7')),
        _ => false,
    }
}

/// The value of an escape after its backslash, and its length.
fn backslash(rest: &str) -> Option<(u32, usize)> {
    let (kind, inner) = (rest.chars().next()?, rest.get(1..).unwrap_or_default());
    let (value, length) = match kind {
        'x' => digits(inner, 16, 2, 2)?,
        'u' | 'U' if inner.starts_with('{') => {
            let (value, length) = digits(&inner[1..], 16, 1, 6)?;
            // It may be cut off.
            let closed = inner[1 + length..].starts_with('}');
            (value, 1 + length + usize::from(closed))
        }
        'u' => digits(inner, 16, 4, 4)?,
        'U' => digits(inner, 16, 8, 8)?,
        '0'..='7' => return digits(rest, 8, 1, 3),
        '/' | '"' | '\\' | '\'' => (u32::from(kind), 0),
        'n' | 'r' | 't' | 'b' | 'f' => (u32::from(b' '), 0),
        _ => return None,
    };
    Some((value, length + 1))
}

/// The value of an entity after its `&`, and its length.
fn entity(rest: &str) -> Option<(u32, usize)> {
    let end = rest.bytes().take(10).position(|byte| byte == b';')?;
    let name = &rest[..end];
    let value = if let Some(hex) = name.strip_prefix("#x").or(name.strip_prefix("#X")) {
        u32::from_str_radix(hex, 16).ok()?
    } else if let Some(decimal) = name.strip_prefix('#') {
        decimal.parse().ok()?
    } else {
        u32::from(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "percnt" => '%',
            "plus" => '+',
            "equals" => '=',
            "sol" => '/',
            "colon" => ':',
            "period" => '.',
            "lowbar" => '_',
            "hyphen" | "dash" => '-',
            _ => return None,
        })
    };
    Some((value, end + 1))
}

/// The number of `least` to `most` digits at the beginning, and its length.
fn digits(text: &str, radix: u32, least: usize, most: usize) -> Option<(u32, usize)> {
    let length = text
        .bytes()
        .take(most)
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    let value = u32::from_str_radix(&text[..length], radix).ok()?;
    (length >= least).then_some((value, length))
}

/// The longest pieces of a text that consist of such characters, with whitespace as a separator and then without it.
fn runs(text: &str, of: impl Fn(char) -> bool + Copy) -> Vec<String> {
    let unwrapped: String = text.split_ascii_whitespace().collect();
    let unwrapped = (unwrapped.len() < text.len()).then_some(&*unwrapped);
    std::iter::once(text)
        .chain(unwrapped)
        .flat_map(|text| text.split(|character| !of(character)))
        .filter(|run| run.len() >= SHORTEST_RUN)
        .map(str::to_owned)
        .collect()
}

fn is_base64(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '-' | '_')
}

/// What a run decodes to if it begins there: its groups of four may begin at any of four places.
fn from_base64(run: &str, start: usize) -> Option<String> {
    let run = run.get(start..)?.replace('-', "+").replace('_', "/");
    // A single character at the end encodes nothing.
    let whole = run.len() - usize::from(run.len() % 4 == 1);
    text_of(&BASE64.decode(&run[..whole]).ok()?)
}

/// What a run of hexadecimal digits decodes to.
fn from_hex(run: &str) -> Option<String> {
    let pairs = run.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    text_of(&bytes?)
}

/// Decoded bytes as text. If they are not mostly text, the encoding is another or begins elsewhere.
fn text_of(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let odd =
        |character: &char| *character == char::REPLACEMENT_CHARACTER || character.is_control();
    let odd = text.chars().filter(odd).count();
    (odd * 4 <= text.len()).then(|| text.into_owned())
}

/// A list of bytes as a debugger prints it: `99, 97, 110`.
fn from_numbers(text: &str) -> Option<String> {
    let numbers: Vec<u8> = text
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    (numbers.len() >= 4).then(|| text_of(&numbers)).flatten()
}

/// Bytes in hexadecimal digits with something between them: `63:61`, `0x63, 0x61`, `6361 6e61`.
fn from_hex_list(text: &str) -> Option<String> {
    let pieces = text
        .split(|character: char| !character.is_ascii_alphanumeric())
        .map(|piece| piece.strip_prefix("0x").unwrap_or(piece))
        .filter(|piece| matches!(piece.len(), 2 | 4))
        .filter(|piece| piece.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let digits = pieces.collect::<Vec<_>>().concat();
    (digits.len() >= SHORTEST_RUN)
        .then(|| from_hex(&digits))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{forms, from_base64, is_base64, runs, text_of, unescaped};

    #[test]
    fn each_escape_is_what_it_stands_for() {
        for (escaped, text) in [
            (
                "&lt;&gt;&quot;&apos;&percnt;&plus;&equals;&sol;",
                "<>\"'%+=/",
            ),
            (
                "&colon;&period;&lowbar;&hyphen;&dash;&amp;&copy;",
                ":._--&&copy;",
            ),
            (r#"a\/b\"c\\d\'e"#, r#"a/b"c\d'e"#),
            (r"a\nb\rc\td\be\ff\g", r"a b c d e f\g"),
            // Bytes of a character, and characters.
            ("%C3%BC =C3=BC", "ü ü"),
            (r"\xc3\xbc \303\274", "ü ü"),
            (r"\u00fc \u{fc} \U000000fc &#252; &#xfc;", "ü ü ü ü ü"),
        ] {
            assert_eq!(unescaped(escaped), text, "{escaped}");
        }
    }

    #[test]
    fn a_text_without_escapes_has_one_form() {
        assert_eq!(forms("plain"), ["plain"]);
        let run = "Y2FuYXJ5";
        assert_eq!(runs("Y2Fu YXJ5", is_base64), [run]);
        assert_eq!(runs(run, is_base64), [run]);
        // A character too many, and bytes that are no text.
        assert_eq!(from_base64("Q2FuY2FuYXJ5x", 0).unwrap(), "Cancanary");
        assert_eq!(text_of(b"abc\x01").as_deref(), Some("abc\x01"));
        assert_eq!(text_of(b"ab\x01"), None);
        assert_eq!(text_of(&[0, 1, 2, 0xff]), None);
    }

    #[test]
    fn what_was_escaped_or_encoded_comes_out() {
        for text in [
            "n: %63%61%6e%61%72%79!",
            "=63=61=6E=61=72=79",
            "\\u0063\\x61\\u{6e}\\141\\u0072\\U00000079",
            "&#99;&#x61;&#110;a&#114;y",
            "%25%36%33anary",
            "x Y2FuYXJ5IHNheXM= x",
            "Q2FuY2FuYXJ5",
            "63616e617279 2121",
            "[99, 97, 110, 97, 114, 121]",
            "&amp;#99;anary",
            "63:61:6e:61:72:79",
            "0x63, 0x61, 0x6e, 0x61, 0x72, 0x79",
            "00000000: 6361 6e61 7279 0a0a  canary..",
        ] {
            let forms = forms(text);
            let found = forms.iter().any(|form| form.contains("canary"));
            assert!(found, "{text}: {forms:?}");
        }
    }

    #[test]
    fn fault_41_no_number_of_decoys_hides_what_comes_behind_them() {
        // Each decodes to a text, wherever it is taken to begin.
        let decoys = "58XMkyWr.OTXOvUio.Ql2zqlTy.dTYRVbNs.WU2ImmaO.kybLkuK5.pc2XUn6Y.OZKJ0r3W.dVX7cu3V.\
                      uCV4jMic.TU9W4hc2.b8lc2T9F.ab8MyJ1c.z3SJOKUt.uZklmVI3.IIPQjTm6.Rz71ks2W.";
        let base64 = "Y2FuYXJ5IHNheXM=";
        for canary in [base64, "63616e617279 2121", "%63%61%6e%61%72%79"] {
            let text = format!("{decoys}{canary}");
            let forms = forms(&text);
            assert!(forms.iter().any(|form| form.contains("canary")), "{canary}");
            assert!(forms.len() < 100, "{}", forms.len());
        }
    }

    #[test]
    fn what_is_cut_off_breaks_nothing() {
        for text in [
            "\\u{e", "\\u{e€", "\\u{", "\\", "%", "%4", "&#", "&#x1", "\\x4é", "\\u00e", "é\\",
        ] {
            assert!(!forms(text).is_empty());
            assert!(!forms(&format!("ab{text}é{text}")).is_empty());
        }
    }
}
