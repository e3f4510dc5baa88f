//! Patterns of the specs, compiled into pieces, so that no regular expression runs in a user's program.
//!
//! The subset: anchored at both ends; literals, character classes, one group of alternatives; `{n}`, `{n,m}` and
//! `+`. A class takes all it can, so a class of varying length may only stand at the end.

use std::iter::Peekable;
use std::str::Chars;

use crate::{Result, at};

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Exactly this text.
    Literal(String),
    /// Between `min` and `max` characters out of these inclusive ranges.
    Class {
        ranges: Vec<(char, char)>,
        min: u32,
        max: u32,
    },
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The pattern as a spec writes it.
    pub(crate) source: String,
    /// Its alternatives, each as pieces one after the other.
    pub(crate) alternatives: Vec<Vec<Piece>>,
}

impl Pattern {
    /// Compiles a pattern, or says what is outside the subset.
    pub(crate) fn compile(source: &str) -> Result<Self> {
        Ok(Self {
            source: source.to_owned(),
            alternatives: alternatives(source).map_err(at(format!("pattern `{source}`")))?,
        })
    }

    /// A text of this form, for examples: of the last alternative, which is the most telling one.
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
                // The ranges take turns, so that the text shows what is allowed: `A0B1C2`.
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

fn alternatives(source: &str) -> Result<Vec<Vec<Piece>>> {
    let body = source
        .strip_prefix('^')
        .and_then(|rest| rest.strip_suffix('$'))
        .filter(|body| !body.ends_with('\\'))
        .ok_or("it must be anchored with `^` and `$`")?;
    let mut rest = body.chars().peekable();
    let prefix = sequence(&mut rest)?;
    let group = group(&mut rest)?;
    let suffix = sequence(&mut rest)?;
    if let Some(other) = rest.next() {
        return Err(format!("`{other}` is outside the subset here"));
    }
    group
        .into_iter()
        .map(|middle| finish([prefix.clone(), middle, suffix.clone()].concat()))
        .collect()
}

/// The alternatives of a group, or a single empty one where there is no group.
fn group(rest: &mut Peekable<Chars<'_>>) -> Result<Vec<Vec<Piece>>> {
    if rest.next_if_eq(&'(').is_none() {
        return Ok(vec![Vec::new()]);
    }
    let mut branches = vec![sequence(rest)?];
    while rest.next_if_eq(&'|').is_some() {
        branches.push(sequence(rest)?);
    }
    rest.next_if_eq(&')')
        .ok_or("a group needs its `)` and holds no other group")?;
    match rest.peek() {
        Some('+' | '*' | '?' | '{') => Err("a group is not repeated".into()),
        _ => Ok(branches),
    }
}

/// Joins adjacent literals and refuses what a greedy match could get wrong.
fn finish(pieces: Vec<Piece>) -> Result<Vec<Piece>> {
    let last = pieces.len().saturating_sub(1);
    let mut joined: Vec<Piece> = Vec::new();
    for (at, piece) in pieces.into_iter().enumerate() {
        match (&piece, joined.last_mut()) {
            (Piece::Class { min, max, .. }, _) if min != max && at != last => {
                return Err("a class of varying length may only stand at the end".into());
            }
            (Piece::Literal(text), Some(Piece::Literal(before))) => before.push_str(text),
            _ => joined.push(piece),
        }
    }
    Ok(joined)
}

/// Literals and classes up to a group, an alternative or the end.
fn sequence(rest: &mut Peekable<Chars<'_>>) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    while let Some(next) = rest.peek().copied().filter(|next| !"(|)".contains(*next)) {
        rest.next();
        let ranges = match next {
            '[' => class(rest)?,
            '\\' => {
                let escaped = rest
                    .next()
                    .filter(|c| !c.is_ascii_alphanumeric())
                    .ok_or("only punctuation can be escaped")?;
                vec![(escaped, escaped)]
            }
            '.' | '*' | '?' | '+' | '{' | '}' | ']' | '^' | '$' => {
                return Err(format!("`{next}` is outside the subset here"));
            }
            literal => vec![(literal, literal)],
        };
        let (min, max) = repetition(rest)?;
        pieces.push(match ranges.as_slice() {
            [(low, high)] if low == high && (min, max) == (1, 1) => Piece::Literal(low.to_string()),
            _ => Piece::Class { ranges, min, max },
        });
    }
    Ok(pieces)
}

fn class(rest: &mut Peekable<Chars<'_>>) -> Result<Vec<(char, char)>> {
    let mut ranges = Vec::new();
    loop {
        let low = match rest.next().ok_or("a class needs its `]`")? {
            ']' if !ranges.is_empty() => return Ok(ranges),
            '^' | ']' if ranges.is_empty() => {
                return Err("a class must not be empty or negated".into());
            }
            '\\' | '[' => return Err("a class holds characters and ranges, without escapes".into()),
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
        if low > high {
            return Err(format!("the range `{low}-{high}` is empty"));
        }
        ranges.push((low, high));
    }
}

fn repetition(rest: &mut Peekable<Chars<'_>>) -> Result<(u32, u32)> {
    match rest.peek() {
        Some('+') => {
            rest.next();
            Ok((1, u32::MAX))
        }
        Some('{') => {
            rest.next();
            let counts = std::iter::from_fn(|| rest.next_if(|c| *c != '}'));
            let counts: String = counts.collect();
            rest.next().ok_or("a repetition needs its `}`")?;
            let (min, max) = counts.split_once(',').unwrap_or((&counts, &counts));
            let parse = |text: &str| {
                text.parse::<u32>()
                    .map_err(|_| format!("`{{{counts}}}` is no `{{n}}` or `{{n,m}}`"))
            };
            let (min, max) = (parse(min)?, parse(max)?);
            if min > max {
                Err(format!("`{{{counts}}}` is empty"))
            } else {
                Ok((min, max))
            }
        }
        _ => Ok((1, 1)),
    }
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
        let person = Pattern::compile("^PER-[A-F0-9]{12}$").unwrap();
        assert_eq!(
            person.alternatives,
            [vec![Piece::Literal("PER-".into()), hex.clone()]]
        );
        assert_eq!(person.sample(), "PER-A0B1C2D3E4F5");

        let owner = Pattern::compile("^(none|ACR-[A-F0-9]{12})$").unwrap();
        assert_eq!(
            owner.alternatives,
            [
                vec![Piece::Literal("none".into())],
                vec![Piece::Literal("ACR-".into()), hex]
            ]
        );

        let key = Pattern::compile("^[A-Za-z0-9._:-]+$").unwrap();
        let letters = [('A', 'Z'), ('a', 'z'), ('0', '9')];
        let ranges = [&letters[..], &['.', '_', ':', '-'].map(|one| (one, one))].concat();
        assert_eq!(key.alternatives, [vec![class(&ranges, 1, u32::MAX)]]);
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
