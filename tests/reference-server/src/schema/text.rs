//! Builds a string that matches a pattern.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The limit of extra repetitions for reaching a length.
const MOST: usize = 200;

/// The length limit of built strings, in bytes.
const LONGEST: usize = 1 << 16;

/// Returns a string that matches `pattern`, with at least `least` characters, and differs between turns if possible.
pub(super) fn matching(pattern: &str, least: usize, turn: usize) -> Option<String> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    let tries = (0..=least.min(MOST)).map(|more| {
        let mut text = String::new();
        write(&parsed, turn, more, &mut text);
        text
    });
    let mut long = tries.skip_while(|text| text.chars().count() < least);
    long.next().filter(|text| text.len() < LONGEST)
}

fn write(hir: &Hir, turn: usize, more: usize, text: &mut String) {
    if text.len() >= LONGEST {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(character(class, turn)),
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize;
            let most = repetition.max.map_or(usize::MAX, |most| most as usize);
            for _ in 0..least.saturating_add(more).min(most).min(LONGEST) {
                write(&repetition.sub, turn, more, text);
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, turn, more, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, turn, more, text)),
        HirKind::Alternation(parts) => write(&parts[turn % parts.len()], turn, more, text),
    }
}

/// Returns a character of a class, preferably a letter or digit.
fn character(class: &Class, turn: usize) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let has = |letter: &char| {
        let mut ranges = class.iter();
        ranges.any(|range| (range.start()..=range.end()).contains(letter))
    };
    let plain = ('0'..='9').chain('A'..='Z').chain('a'..='z');
    let plain: Vec<char> = plain.filter(has).collect();
    let in_turn = plain.get(turn % plain.len().max(1)).copied();
    in_turn
        .or_else(|| ('!'..='\u{2fff}').find(has))
        .or(Some(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_strings_match_their_pattern() {
        for (pattern, least) in [
            ("^PER-[A-F0-9]{12}$", 0),
            ("^(none|ACR-[A-F0-9]{12})$", 0),
            ("^[A-Za-z0-9._:-]+$", 16),
            (r"^\+\d{1,3} ?\d+$", 9),
            ("^[^a-z]{2,}é?$", 4),
            ("report", 0),
        ] {
            let matcher = regex::Regex::new(pattern).unwrap();
            for turn in 0..40 {
                let text = matching(pattern, least, turn).unwrap();
                assert!(matcher.is_match(&text), "{pattern}: {text}");
                assert!(text.chars().count() >= least, "{pattern}: {text}");
            }
        }
        assert_ne!(matching("^[a-z]{3}$", 0, 0), matching("^[a-z]{3}$", 0, 1));
        assert_eq!(matching("(?=x)", 0, 0), None);
    }
}
