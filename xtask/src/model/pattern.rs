//! Patterns of the specs, compiled into pieces, so that no user's program runs a regular expression.
//!
//! The supported subset is anchored at both ends. It has literals, character classes, one group of alternatives, `{n}`,
//! `{n,m}` and `+`. Classes are greedy, so a class of varying length may only be at the end.

use std::iter::Peekable;
use std::str::Chars;

use crate::Result;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(String),
    /// `min` to `max` characters from these inclusive ranges.
    Class {
        ranges: Vec<(char, char)>,
        min: u32,
        max: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) source: String,
    /// Its alternatives, each a sequence of pieces.
    pub(crate) alternatives: Vec<Vec<Piece>>,
}

impl Pattern {
    pub(crate) fn compile(source: &str) -> Result<Self> {
        let alternatives = alternatives(source);
        let rule =
            || format!("pattern `{source}` is outside the subset that is checked in programs");
        Ok(Self {
            source: source.to_owned(),
            alternatives: alternatives.ok_or_else(rule)?,
        })
    }

    /// An example of a matching string, which matches the last and most specific alternative.
    pub(crate) fn sample(&self) -> String {
        let pieces = self.alternatives.last().into_iter().flatten();
        pieces.map(Piece::sample).collect()
    }
}

impl Piece {
    fn sample(&self) -> String {
        match self {
            Self::Literal(text) => text.clone(),
            Self::Class { ranges, min, .. } => {
                // The ranges alternate, so that the example shows all of them, as in `A0B1C2`.
                let nth = |at: usize| {
                    let (low, high) = ranges[at % ranges.len()];
                    let step = u32::try_from(at / ranges.len()).unwrap_or_default()
                        % (u32::from(high) - u32::from(low) + 1);
                    char::from_u32(u32::from(low) + step).unwrap_or(low)
                };
                (0..*min as usize).map(nth).collect()
            }
        }
    }
}

fn alternatives(source: &str) -> Option<Vec<Vec<Piece>>> {
    let body = source.strip_prefix('^')?.strip_suffix('$')?;
    let mut rest = body.chars().peekable();
    let prefix = sequence(&mut rest)?;
    let group = group(&mut rest)?;
    let suffix = sequence(&mut rest)?;
    let with_group = |middle| joined([prefix.clone(), middle, suffix.clone()].concat());
    let is_end = rest.next().is_none();
    group
        .into_iter()
        .map(with_group)
        .collect::<Option<_>>()
        .filter(|_| is_end)
}

/// The alternatives of a group, or a single empty alternative if there is no group.
fn group(rest: &mut Peekable<Chars<'_>>) -> Option<Vec<Vec<Piece>>> {
    if rest.next_if_eq(&'(').is_none() {
        return Some(vec![Vec::new()]);
    }
    let mut branches = vec![sequence(rest)?];
    while rest.next_if_eq(&'|').is_some() {
        branches.push(sequence(rest)?);
    }
    rest.next_if_eq(&')').map(|_| branches)
}

/// Joins adjacent literals. `None` if a greedy match could fail.
fn joined(pieces: Vec<Piece>) -> Option<Vec<Piece>> {
    let last = pieces.len().saturating_sub(1);
    let mut joined: Vec<Piece> = Vec::new();
    for (at, piece) in pieces.into_iter().enumerate() {
        match (&piece, joined.last_mut()) {
            (Piece::Class { min, max, .. }, _) if min != max && at != last => return None,
            (Piece::Literal(text), Some(Piece::Literal(before))) => before.push_str(text),
            _ => joined.push(piece),
        }
    }
    Some(joined)
}

/// Parses literals and classes up to a group, an alternative or the end.
fn sequence(rest: &mut Peekable<Chars<'_>>) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while let Some(next) = rest.next_if(|next| !"(|)".contains(*next)) {
        let ranges = match next {
            '[' => class(rest)?,
            '\\' => {
                let escaped = rest.next().filter(|c| !c.is_ascii_alphanumeric())?;
                vec![(escaped, escaped)]
            }
            '.' | '*' | '?' | '+' | '{' | '}' | ']' | '^' | '$' => return None,
            literal => vec![(literal, literal)],
        };
        let (min, max) = repetition(rest)?;
        pieces.push(match ranges.as_slice() {
            [(low, high)] if low == high && (min, max) == (1, 1) => Piece::Literal(low.to_string()),
            _ => Piece::Class { ranges, min, max },
        });
    }
    Some(pieces)
}

/// Parses the characters and ranges of a class that is neither empty nor negated, and has no escapes.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<Vec<(char, char)>> {
    let mut ranges = Vec::new();
    loop {
        let low = match rest.next()? {
            ']' if !ranges.is_empty() => return Some(ranges),
            '^' | ']' if ranges.is_empty() => return None,
            '\\' | '[' => return None,
            low => low,
        };
        let mut ahead = rest.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if high != ']' => {
                rest.nth(1);
                high
            }
            _ => low,
        };
        ranges.push((low, high));
        if low > high {
            return None;
        }
    }
}

fn repetition(rest: &mut Peekable<Chars<'_>>) -> Option<(u32, u32)> {
    if rest.next_if_eq(&'+').is_some() {
        return Some((1, u32::MAX));
    }
    if rest.next_if_eq(&'{').is_none() {
        return Some((1, 1));
    }
    let counts = std::iter::from_fn(|| rest.next_if(|c| *c != '}'));
    let counts: String = counts.collect();
    rest.next()?;
    let (min, max) = counts.split_once(',').unwrap_or((&counts, &counts));
    let (min, max) = (min.parse().ok()?, max.parse().ok()?);
    (min <= max).then_some((min, max))
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Piece};

    fn class(ranges: &[(char, char)], min: u32, max: u32) -> Piece {
        Piece::Class {
            ranges: ranges.to_vec(),
            min,
            max,
        }
    }

    #[test]
    fn the_patterns_of_the_contract_compile() {
        let hex = class(&[('A', 'F'), ('0', '9')], 12, 12);
        let [none, person, actor] = ["none", "PER-", "ACR-"].map(|it| Piece::Literal(it.into()));
        let letters = [('A', 'Z'), ('a', 'z'), ('0', '9')];
        let others = ['.', '_', ':', '-'].map(|one| (one, one));
        let key = class(&[&letters[..], &others].concat(), 1, u32::MAX);
        for (source, expected) in [
            ("^PER-[A-F0-9]{12}$", vec![vec![person, hex.clone()]]),
            (
                "^(none|ACR-[A-F0-9]{12})$",
                vec![vec![none], vec![actor, hex]],
            ),
            ("^[A-Za-z0-9._:-]+$", vec![vec![key]]),
        ] {
            assert_eq!(Pattern::compile(source).unwrap().alternatives, expected);
        }
        let person = Pattern::compile("^PER-[A-F0-9]{12}$").unwrap();
        assert_eq!(person.sample(), "PER-A0B1C2D3E4F5");
    }

    #[test]
    fn alternatives_share_what_stands_around_them() {
        let pattern = Pattern::compile(r"^v\.(a|b)x{2}c$").unwrap();
        let branch = |letter: &str| {
            vec![
                Piece::Literal(format!("v.{letter}")),
                class(&[('x', 'x')], 2, 2),
                Piece::Literal("c".into()),
            ]
        };
        assert_eq!(pattern.alternatives, [branch("a"), branch("b")]);
    }

    #[test]
    fn what_is_outside_the_subset_is_refused() {
        let outside = r"A ^a.b$ ^a*$ ^\d$ ^[^a]$ ^(a|(b))$ ^(a)+$ ^a|b$ ^[a-z]+-x$ ^a{2,1}$ ^(a)(b)$ ^[a$ ^a{2$";
        for pattern in outside.split(' ') {
            assert!(Pattern::compile(pattern).is_err(), "{pattern}");
        }
    }
}
