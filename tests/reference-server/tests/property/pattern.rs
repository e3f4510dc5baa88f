//! Texts that match a pattern, as far as the specs use patterns: literals, classes, one group of alternatives, `{n}`
//! and `+`.

use fastrand::Rng;

/// A text that matches.
pub(crate) fn text(pattern: &str, random: &mut Rng, lengths: (usize, usize)) -> String {
    let pattern = pattern
        .strip_prefix('^')
        .and_then(|rest| rest.strip_suffix('$'));
    let mut pattern = pattern.expect("an anchored pattern");
    if let Some(group) = pattern.strip_prefix('(') {
        let alternatives: Vec<&str> = group.strip_suffix(')').unwrap().split('|').collect();
        pattern = *random.choice(&alternatives).unwrap();
    }
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let alphabet = if first == '[' {
            let (class, after) = rest[1..].split_once(']').unwrap();
            rest = after;
            members(class)
        } else {
            rest = &rest[first.len_utf8()..];
            vec![first]
        };
        let count = if let Some(after) = rest.strip_prefix('{') {
            let (number, after) = after.split_once('}').unwrap();
            rest = after;
            number.parse().unwrap()
        } else if let Some(after) = rest.strip_prefix('+') {
            rest = after;
            random.usize(lengths.0.max(1)..=lengths.1)
        } else {
            1
        };
        text.extend((0..count).map(|_| *random.choice(&alphabet).unwrap()));
    }
    text
}

/// The characters of a class such as `A-F0-9._`.
fn members(class: &str) -> Vec<char> {
    let letters: Vec<char> = class.chars().collect();
    let mut members = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        if letters.get(at + 1) == Some(&'-') && at + 2 < letters.len() {
            members.extend(letters[at]..=letters[at + 2]);
            at += 3;
        } else {
            members.push(letters[at]);
            at += 1;
        }
    }
    members
}

#[test]
fn what_is_made_matches() {
    let mut random = Rng::with_seed(1);
    for pattern in [
        "^PER-[A-F0-9]{12}$",
        "^(none|ACR-[A-F0-9]{12})$",
        "^[A-Za-z0-9._:-]+$",
    ] {
        for _ in 0..50 {
            let text = text(pattern, &mut random, (16, 160));
            assert!(crate::schema::matches(pattern, &text), "{pattern} {text}");
        }
    }
}
