//! A plain second reading of JSON, in which no digit is lost. Of members of one name the last counts.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Deeper parts are compared as texts.
const DEEPEST: usize = 100;

#[derive(Debug, PartialEq)]
pub(super) enum Tree {
    Word(String),
    /// The sign, the digits from the first to the last that is not zero, and the power of ten of the last.
    Number(bool, String, i128),
    Text(String),
    List(Vec<Tree>),
    Object(BTreeMap<String, Tree>),
}

impl Tree {
    /// `None` if it is not JSON, or has texts that are not Unicode or powers of ten beyond reason.
    pub(super) fn read(text: &str) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Self::of(raw.get(), 0)
    }

    fn of(text: &str, depth: usize) -> Option<Self> {
        let inner = |raw: &RawValue| Self::of(raw.get(), depth + 1);
        Some(match text.as_bytes()[0] {
            _ if depth > DEEPEST => Self::Word(text.to_owned()),
            b'n' | b't' | b'f' => Self::Word(text.to_owned()),
            b'"' => Self::Text(serde_json::from_str(text).ok()?),
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                Self::List(items.into_iter().map(inner).collect::<Option<_>>()?)
            }
            b'{' => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
                let members = members
                    .into_iter()
                    .map(|(name, raw)| Some((name, inner(raw)?)));
                Self::Object(members.collect::<Option<_>>()?)
            }
            _ => number(text)?,
        })
    }

    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn number(text: &str) -> Option<Tree> {
    let lower = text.to_ascii_lowercase();
    let (mantissa, power) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole.trim_start_matches('-'), fraction].concat();
    let kept = digits.trim_end_matches('0');
    let power = power.parse::<i64>().ok().map(i128::from)?;
    let zeros = i128::try_from(digits.len() - kept.len()).ok()?;
    let power = power - i128::try_from(fraction.len()).ok()? + zeros;
    let kept = kept.trim_start_matches('0').to_owned();
    let is_zero = kept.is_empty();
    let negative = text.starts_with('-') && !is_zero;
    Some(Tree::Number(
        negative,
        kept,
        if is_zero { 0 } else { power },
    ))
}
