use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::zeroize::Zeroizing;
use serde_json::Value;

use crate::secret::decoded::forms;
use crate::text::{Line, is_unseen};

/// What is shown of a text that repeats what must not be shown. By its place it is a whole text of a server's, so nothing
/// else is touched.
const WITHHELD: &str = "[withheld: it repeats what is confidential]";

/// [`WITHHELD`] for a code or an id, beside which the longer one stands often enough.
const WITHHELD_IN_SHORT: &str = "[withheld]";

/// How much of a text is looked at and shown at most. More is not shown, so nothing beyond it can leak.
const LONGEST_LOOK: usize = 4096;

/// From this length on letters and digits are found whatever is around them. Words of a language have as many, so that a
/// caller's value may stand in a text by accident: it is withheld all the same.
const TELLING: usize = 8;

/// [`TELLING`] for letters with digits among them, which no word has.
const TELLING_MIXED: usize = 5;

/// How much of a secret is too much.
const PART_OF_SECRET: usize = 8;

/// How much of a long value is too much.
const PART: usize = 16;

/// How many tokens are remembered after they were replaced: a server may still repeat them.
const RECENT: usize = 16;

/// What must not be shown: credentials, tokens, keys, and what a caller sent in headers and parameters that do not print.
///
/// A server can repeat it in any form, in any text. Such a text is not shown at all, instead of being picked over: replacing
/// letters would garble what has nothing to do with a short secret, and leave the rest of one that was cut in half.
#[derive(Default)]
pub(crate) struct Confidential {
    needles: Vec<Arc<Needle>>,
}

/// A text to look for, in memory that is wiped on drop.
pub(crate) struct Needle {
    text: Zeroizing<String>,
    /// Its letters and digits alone, in lower case.
    bare: Zeroizing<String>,
    /// Of these the ASCII ones, where there are others: what is left when an encoding was mistaken for another.
    ascii: Option<Zeroizing<String>>,
    /// How many letters and digits of it say too much.
    part: usize,
}

impl Confidential {
    /// Adds what a caller sent: no text may repeat it, or a large part of it.
    pub(crate) fn add(&mut self, text: &str) {
        self.needles.extend(Needle::of(text, false));
    }

    /// Adds a credential or a token: no text may repeat any part of it.
    pub(crate) fn add_secret(&mut self, text: &str) {
        self.needles.extend(Needle::of(text, true));
    }

    /// Adds what a JSON text has in members that are named like tokens or secrets.
    pub(crate) fn add_secrets_of(&mut self, json: &[u8]) {
        if let Ok(value) = serde_json::from_slice(json) {
            self.add_members(&value, false);
        }
    }

    fn add_members(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::String(text) if is_secret => self.add_secret(text),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.add_members(item, is_secret)),
            Value::Object(members) => members.iter().for_each(|(name, member)| {
                let name = bare(name);
                let secret = ["token", "secret", "password", "assertion"];
                // `token_type` is none.
                let named = !name.ends_with("type") && secret.iter().any(|it| name.contains(it));
                self.add_members(member, is_secret || named);
            }),
            _ => {}
        }
    }

    /// A server's text on one line, if it can be shown.
    pub(crate) fn line(&self, line: Line, text: &str) -> String {
        let end = text.char_indices().nth(LONGEST_LOOK);
        let text = end.map_or(text, |(end, _)| &text[..end]);
        match self.is_in(text) {
            false => line.of(text),
            true if line.longest() < Line::Message.longest() => WITHHELD_IN_SHORT.to_owned(),
            true => WITHHELD.to_owned(),
        }
    }

    /// Whether a text repeats any of it, in whatever form.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        if self.needles.is_empty() || text.is_empty() {
            return false;
        }
        // What is not seen is left out before a text is shown, so it is left out before it is looked at.
        let text = if text.contains(is_unseen) {
            Cow::Owned(text.replace(is_unseen, ""))
        } else {
            Cow::Borrowed(text)
        };
        forms(&text).iter().any(|form| {
            let bare = bare(form);
            let ascii = (!bare.is_ascii()).then(|| ascii(&bare));
            let ascii = ascii.as_deref().unwrap_or(&bare);
            self.needles
                .iter()
                .any(|needle| needle.is_in(form, &bare, ascii))
        })
    }
}

impl Needle {
    /// Nothing is to be found of a text that is empty.
    fn of(text: &str, is_secret: bool) -> Option<Arc<Self>> {
        if text.trim().is_empty() {
            return None;
        }
        let bare = bare(text);
        let ascii = (!bare.is_ascii()).then(|| ascii(&bare));
        let part = match is_secret {
            true => PART_OF_SECRET,
            false if bare.len() >= 2 * PART => PART,
            false => usize::MAX,
        };
        Some(Arc::new(Self {
            text: text.to_owned().into(),
            bare: bare.into(),
            ascii: ascii.map(Zeroizing::new),
            part,
        }))
    }

    fn is_in(&self, form: &str, bare_form: &str, ascii_form: &str) -> bool {
        let ascii = self.ascii.as_deref();
        found(&self.bare, bare_form, self.part)
            || ascii.is_some_and(|ascii| found(ascii, ascii_form, self.part))
            || stands_alone(&self.text, form)
    }
}

/// Whether letters and digits stand among others, or a part of them does.
fn found(bare: &str, text: &str, part: usize) -> bool {
    let is_mixed = || bare.contains(|character: char| character.is_ascii_digit());
    if bare.len() < TELLING_MIXED || (bare.len() < TELLING && !is_mixed()) {
        return false;
    }
    if text.contains(bare) {
        return true;
    }
    if bare.len() <= part || text.len() < part {
        return false;
    }
    // One that has no half of a part in common with it has no part either.
    let finder = |piece: &[u8]| memchr::memmem::find(bare.as_bytes(), piece).is_some();
    let halves = text.as_bytes().windows(part / 2).step_by(part / 2);
    halves
        .enumerate()
        .filter(|(_, half)| finder(half))
        .any(|(at, _)| {
            let from = (at * (part / 2)).saturating_sub(part / 2);
            let to = (from + 2 * part).min(text.len());
            text.as_bytes()[from..to].windows(part).any(finder)
        })
}

/// Secrets that were in use lately.
#[derive(Default)]
pub(crate) struct Recent(Mutex<VecDeque<Arc<Needle>>>);

impl Recent {
    /// Remembers one, and forgets the oldest if there are many.
    pub(crate) fn keep(&self, secret: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == RECENT {
            kept.pop_front();
        }
        kept.extend(Needle::of(secret, true));
    }

    /// Has them all kept out of texts.
    pub(crate) fn confide(&self, confidential: &mut Confidential) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        confidential.needles.extend(kept.iter().cloned());
    }
}

/// Letters and digits in lower case: what is left of a text that was broken up, or written in capitals.
fn bare(text: &str) -> String {
    if text.is_ascii() {
        let mut bare = text.to_ascii_lowercase();
        bare.retain(|character| character.is_ascii_alphanumeric());
        return bare;
    }
    text.chars()
        .filter(|character| character.is_alphanumeric() && !is_unseen(*character))
        .flat_map(char::to_lowercase)
        .collect()
}

fn ascii(bare: &str) -> String {
    bare.chars().filter(char::is_ascii).collect()
}

/// Whether a text stands in another as a word of its own, in capitals or spaced out too: a letter is no secret only because
/// it occurs.
fn stands_alone(word: &str, text: &str) -> bool {
    let is_edge = |character: Option<char>, inner: Option<char>| {
        !character.is_some_and(char::is_alphanumeric) || !inner.is_some_and(char::is_alphanumeric)
    };
    text.char_indices().any(|(at, _)| {
        after(word, &text[at..]).is_some_and(|rest| {
            is_edge(text[..at].chars().next_back(), word.chars().next())
                && is_edge(rest.chars().next(), word.chars().next_back())
        })
    })
}

/// What follows a word at the beginning of a text, with one other character between its letters or none.
fn after<'a>(word: &str, text: &'a str) -> Option<&'a str> {
    let alike = |left: char, right: char| left.to_lowercase().eq(right.to_lowercase());
    let mut rest = text.chars();
    for (index, letter) in word.chars().enumerate() {
        let mut next = rest.next()?;
        if index > 0 && !alike(next, letter) && !next.is_alphanumeric() {
            next = rest.next()?;
        }
        if !alike(next, letter) {
            return None;
        }
    }
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::{Confidential, WITHHELD};
    use crate::text::Line;

    fn shown(secret: &str, text: &str) -> String {
        let mut confidential = Confidential::default();
        confidential.add_secret(secret);
        confidential.line(Line::Message, text)
    }

    #[test]
    fn a_text_that_repeats_a_secret_is_withheld_as_a_whole() {
        for text in [
            "wrong secret correct horse battery",
            "correct%20horse%20battery",
            "CORRECT HORSE BATTERY",
            "c.o.r.r.e.c.t horse\nbattery",
            "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5",
            "correct\u{200b} horse\u{ad} battery",
            "63:6f:72:72:65:63:74:20:68:6f:72:73:65",
            "it begins with correct h…",
            "corr**** horsebat****",
        ] {
            assert_eq!(shown("correct horse battery", text), WITHHELD, "{text}");
        }
        assert_eq!(shown("correct horse battery", "wrong horse"), "wrong horse");
    }

    #[test]
    fn half_of_a_long_value_of_a_callers_is_one_too() {
        let mut confidential = Confidential::default();
        confidential.add("0123456789abcdefghijklmnopqrstuvwxyz");
        for (text, is_in) in [
            ("it begins with 0123456789abcdefgh…", true),
            ("it begins with 0123456789", false),
        ] {
            assert_eq!(confidential.is_in(text), is_in, "{text}");
        }
    }

    #[test]
    fn a_short_secret_is_found_as_a_word_and_garbles_nothing() {
        assert_eq!(shown("a", "secret a is wrong"), WITHHELD);
        assert_eq!(shown("a", "bad parameter"), "bad parameter");
        assert_eq!(shown("::", "it was ::"), WITHHELD);
        assert_eq!(shown("", "anything"), "anything");
        for text in [
            "id hunter2!",
            "idhunter2",
            "HUNTER2",
            "h u n t e r 2",
            "h\u{200b}unter2",
        ] {
            assert_eq!(shown("hunter2", text), WITHHELD, "{text}");
        }
        for text in ["O p E n", "oPEN", "the door is open"] {
            assert_eq!(shown("open", text), WITHHELD, "{text}");
        }
        assert_eq!(shown("open", "no opening"), "no opening");
    }

    #[test]
    fn a_secret_beyond_ascii_is_found_in_a_wrong_encoding() {
        for text in [
            "Zürich-17-Straße",
            "ZÃ¼rich-17-StraÃ\u{9f}e",
            "Z?rich-17-Stra?e",
            "Z\u{fffd}rich-17-Stra\u{fffd}e",
            "Z\\xc3\\xbcrich-17-Stra\\xc3\\x9fe",
            "Z\\303\\274rich-17-Stra\\303\\237e",
        ] {
            assert_eq!(shown("Zürich-17-Straße", text), WITHHELD, "{text}");
        }
    }
}
