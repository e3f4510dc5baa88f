use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use fastrand::Rng;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::from_str;
use crate::{RawJson, Record, Text};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mixed<'a> {
    a: Option<i64>,
    #[serde(borrow)]
    b: Option<Cow<'a, str>>,
    c: Option<Text>,
    d: Option<f64>,
    e: Option<Kind>,
    f: Option<Vec<Mixed<'a>>>,
    g: Option<(u8, i8)>,
    h: Option<RawJson>,
    i: Option<Newtype<u64>>,
    j: Option<bool>,
    k: Option<char>,
    l: Option<Record>,
    m: Option<&'a str>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Kind {
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { a: u8 },
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Newtype<T>(T);

/// A type that continues after errors of its elements.
#[derive(Debug, PartialEq)]
struct Caught(Vec<Option<u32>>);

impl<'de> Deserialize<'de> for Caught {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;

        impl<'de> Visitor<'de> for Elements {
            type Value = Caught;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Caught, A::Error> {
                let mut all = Vec::new();
                while all.len() < 8 {
                    match elements.next_element::<u32>() {
                        Ok(None) => break,
                        Ok(number) => all.push(number),
                        Err(_) => all.push(None),
                    }
                }
                Ok(Caught(all))
            }
        }

        deserializer.deserialize_seq(Elements)
    }
}

/// A type that calls for elements without reading their bytes.
#[derive(Debug, PartialEq)]
struct Empty;

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nothing;

        impl<'de> DeserializeSeed<'de> for Nothing {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
                Ok(())
            }
        }

        impl<'de> Visitor<'de> for Nothing {
            type Value = Empty;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Empty, A::Error> {
                for _ in 0..8 {
                    elements.next_element_seed(Nothing)?;
                }
                Ok(Empty)
            }
        }

        deserializer.deserialize_seq(Nothing)
    }
}

const SCALARS: [&str; 30] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "007",
    "12.50",
    "1e3",
    "-1E+2",
    "1.",
    ".5",
    "1e",
    "255",
    "256",
    "999999999999999999",
    "9223372036854775808",
    "123456789012345678901234567890",
    "1e400",
    r#""""#,
    r#""Unit""#,
    r#""a""#,
    r#""q""#,
    "\"Zürich, \u{2028}\u{1f600}\"",
    r#""a\"b\\c\/\n""#,
    r#""Unit""#,
    r#""\ud800""#,
    "\"a\tb\"",
    r#""a string of more than eight bytes""#,
];

/// Generates a random string that is JSON or nearly JSON.
fn text(rng: &mut Rng, depth: usize) -> String {
    let space = *rng.choice(&["", "", "", " ", "\n\t\r ", "\u{b}"]).unwrap();
    let value = match rng.u8(..10) {
        0..3 if depth > 0 => {
            let values: Vec<String> = (0..rng.usize(..4)).map(|_| text(rng, depth - 1)).collect();
            format!("[{}]", values.join(","))
        }
        3..8 if depth > 0 => {
            let field = |rng: &mut Rng| {
                let name = rng.choice(&[
                    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", r"\u0061",
                    "Tuple", "Struct", "1",
                ]);
                format!("{space}\"{}\":{}", name.unwrap(), text(rng, depth - 1))
            };
            let fields: Vec<String> = (0..rng.usize(..5)).map(|_| field(rng)).collect();
            format!("{{{}}}", fields.join(","))
        }
        _ => (*rng.choice(&SCALARS).unwrap()).to_owned(),
    };
    format!("{space}{value}{space}")
}

/// Checks that all that the fast decoder accepts decodes to the same value with `serde_json`. Counts both successes.
fn same<'a, T: Deserialize<'a> + PartialEq + Debug>(text: &'a str, counts: &mut [u32; 2]) {
    let slow = serde_json::from_str::<T>(text);
    counts[0] += u32::from(slow.is_ok());
    if let Some(fast) = from_str::<T>(text) {
        counts[1] += 1;
        assert_eq!(Some(fast), slow.ok(), "{text:?}");
    }
}

type Comparison = fn(&str, &mut [u32; 2]);

/// The types to decode, each with the possible first bytes of its values.
const TYPES: [(&[u8], Comparison); 20] = [
    (b"{[\"-0ntf", |text, counts| same::<Value>(text, counts)),
    (b"{[\"-0ntf", |text, counts| same::<RawJson>(text, counts)),
    (b"{[", |text, counts| same::<Mixed<'_>>(text, counts)),
    (b"{\"", |text, counts| same::<Kind>(text, counts)),
    (b"{", |text, counts| same::<Record>(text, counts)),
    (b"{", |text, counts| {
        same::<BTreeMap<String, RawJson>>(text, counts);
    }),
    (b"{", |text, counts| {
        same::<BTreeMap<u8, Value>>(text, counts);
    }),
    (b"{", |text, counts| {
        same::<BTreeMap<Newtype<String>, Option<i128>>>(text, counts);
    }),
    (b"{", |text, counts| {
        same::<BTreeMap<Text, Text>>(text, counts);
    }),
    (b"[", |text, counts| same::<Vec<Option<Kind>>>(text, counts)),
    (b"[", |text, counts| same::<Vec<u128>>(text, counts)),
    (b"[", |text, counts| same::<Caught>(text, counts)),
    (b"[", |text, counts| same::<Empty>(text, counts)),
    (b"\"", |text, counts| same::<String>(text, counts)),
    (b"\"", |text, counts| same::<Text>(text, counts)),
    (b"-0", |text, counts| same::<u8>(text, counts)),
    (b"-0", |text, counts| same::<i64>(text, counts)),
    (b"-0", |text, counts| same::<f64>(text, counts)),
    (b"-0", |text, counts| same::<i128>(text, counts)),
    (b"n", |text, counts| same::<()>(text, counts)),
];

/// Generates random JSON, half the time with a character removed, added or replaced.
fn text_or_typo(rng: &mut Rng) -> String {
    let mut text = text(rng, 4);
    if rng.bool() {
        return text;
    }
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let at = *rng.choice(&places).unwrap();
    let others = [
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "0", "-", "\0", "é",
    ];
    let other = *rng.choice(&others).unwrap();
    let end = if rng.bool() {
        at
    } else {
        at + text[at..].chars().next().unwrap().len_utf8()
    };
    text.replace_range(at..end, other);
    text
}

/// Decodes each string as the types that its first byte allows, and as two random types.
fn compare(texts: u32) {
    let mut rng = Rng::with_seed(20);
    let mut counts = [0; 2];
    for _ in 0..texts {
        let text = text_or_typo(&mut rng);
        let first = text.trim_start().bytes().next().unwrap_or_default();
        let first = if first.is_ascii_digit() { b'0' } else { first };
        let fits = TYPES.iter().filter(|(firsts, _)| firsts.contains(&first));
        let others = [rng.choice(&TYPES).unwrap(), rng.choice(&TYPES).unwrap()];
        for (_, same) in fits.chain(others) {
            same(&text, &mut counts);
        }
    }
    // The fast decoder may fail only for numbers as names and for types that catch errors.
    let [slow, fast] = counts;
    assert!(fast * 100 > slow * 97, "{fast} of {slow}");
}

#[test]
fn the_fast_decoder_agrees_with_serde_json() {
    compare(12_000);
}

#[test]
#[ignore = "it takes seconds: run it after changing the fast decoder"]
fn the_fast_decoder_agrees_with_serde_json_in_a_long_run() {
    compare(60_000);
}

#[test]
fn deeply_nested_json_is_left_to_serde_json() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(from_str::<Value>(&nested(100)).is_some());
    assert!(from_str::<Value>(&nested(101)).is_none());
    let deepest = nested(100_000);
    let raw = from_str::<RawJson>(&deepest).unwrap();
    assert_eq!(raw.as_str(), deepest);
}

#[test]
fn a_type_that_catches_errors_does_not_exceed_the_depth_limit() {
    #[derive(Debug)]
    struct Nested(#[expect(dead_code, reason = "it is only nested")] Vec<Nested>);

    impl<'de> Deserialize<'de> for Nested {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Ok(Self(Vec::deserialize(deserializer).unwrap_or_default()))
        }
    }

    assert!(from_str::<Nested>(&"[,".repeat(1_000)).is_none());
}

#[test]
fn only_a_value_passed_as_raw_json_is_trusted_as_json() {
    let other = BorrowedStrDeserializer::<serde_json::Error>::new("} not JSON {");
    let raw = RawJson::deserialize(other).unwrap();
    assert_eq!(raw.as_str(), "\"} not JSON {\"");
    assert!(Record::deserialize(other).is_err());
}
