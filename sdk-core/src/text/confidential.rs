use std::borrow::Cow;

use super::decoded::forms;
use super::line::{is_unseen, one_line_of};

/// What is shown of a text that repeats what must not be shown. By its place it is a whole text of a server's, so nothing
/// else is touched.
const WITHHELD: &str = "[withheld: it repeats a secret]";

/// [`WITHHELD`] for a code or an id, beside which the longer one stands often enough.
const WITHHELD_IN_SHORT: &str = "[withheld]";

/// The most characters of a message.
const MESSAGE: usize = 300;

/// How much of a text is looked at and shown at most. More is not shown, so nothing beyond it can leak.
const LONGEST_LOOK: usize = 4096;

/// From this length on a secret cannot stand in another text by accident, whatever is around it.
const TELLING: usize = 8;

/// How much of a long secret is too much.
const PART: usize = 16;

/// What must not be shown: credentials, tokens, keys, and what a caller sent in headers and parameters that do not print.
///
/// A server can repeat it in any form, in any text. Such a text is not shown at all, instead of being picked over: replacing
/// letters would garble what has nothing to do with a short secret, and leave the rest of one that was cut in half.
#[derive(Default)]
pub(crate) struct Confidential<'a> {
    needles: Vec<Needle<'a>>,
}

struct Needle<'a> {
    text: Cow<'a, str>,
    /// Its letters and digits alone, in lower case.
    bare: String,
}

impl<'a> Confidential<'a> {
    /// Adds a text that no other may repeat.
    pub(crate) fn add(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        if !text.trim().is_empty() {
            let bare = bare(&text);
            self.needles.push(Needle { text, bare });
        }
    }

    /// A server's text on one line, if it can be shown.
    pub(crate) fn line(&self, text: &str) -> String {
        self.line_of(text, MESSAGE)
    }

    /// [`line`](Self::line) of at most `longest` characters.
    pub(crate) fn line_of(&self, text: &str, longest: usize) -> String {
        let end = text.char_indices().nth(LONGEST_LOOK);
        let text = end.map_or(text, |(end, _)| &text[..end]);
        match self.is_in(text) {
            false => one_line_of(text, longest),
            true if longest < MESSAGE => WITHHELD_IN_SHORT.to_owned(),
            true => WITHHELD.to_owned(),
        }
    }

    /// Whether a text repeats any of it, in whatever form.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        if self.needles.is_empty() || text.is_empty() {
            return false;
        }
        forms(text).iter().any(|form| {
            let bare = bare(form);
            self.needles.iter().any(|needle| needle.is_in(form, &bare))
        })
    }
}

impl Needle<'_> {
    fn is_in(&self, form: &str, bare_form: &str) -> bool {
        if self.bare.len() < TELLING {
            return stands_alone(&self.text, form);
        }
        if bare_form.contains(&self.bare) {
            return true;
        }
        if self.bare.len() < 2 * PART || bare_form.len() < PART {
            return false;
        }
        // A part of it, at any place: one that has no half in common with it has no whole either.
        let halves = bare_form.as_bytes().windows(PART / 2).step_by(PART / 2);
        halves
            .enumerate()
            .filter(|(_, half)| memchr::memmem::find(self.bare.as_bytes(), half).is_some())
            .any(|(at, _)| {
                let from = (at * PART / 2).saturating_sub(PART / 2);
                let to = (from + 2 * PART).min(bare_form.len());
                let mut parts = bare_form.as_bytes()[from..to].windows(PART);
                parts.any(|part| memchr::memmem::find(self.bare.as_bytes(), part).is_some())
            })
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

/// Whether a short text stands in another as a word of its own: a letter is no secret only because it occurs.
fn stands_alone(word: &str, text: &str) -> bool {
    let is_edge = |character: Option<char>, inner: Option<char>| {
        !character.is_some_and(char::is_alphanumeric) || !inner.is_some_and(char::is_alphanumeric)
    };
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        is_edge(before.chars().next_back(), word.chars().next())
            && is_edge(after.chars().next(), word.chars().next_back())
    })
}

#[cfg(test)]
mod tests {
    use super::{Confidential, WITHHELD};

    fn shown(secret: &str, text: &str) -> String {
        let mut confidential = Confidential::default();
        confidential.add(secret);
        confidential.line(text)
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
        ] {
            assert_eq!(shown("correct horse battery", text), WITHHELD, "{text}");
        }
        assert_eq!(shown("correct horse battery", "wrong horse"), "wrong horse");
    }

    #[test]
    fn half_of_a_long_secret_is_one_too() {
        let secret = "0123456789abcdefghijklmnopqrstuvwxyz";
        assert_eq!(
            shown(secret, "it begins with 0123456789abcdefgh…"),
            WITHHELD
        );
        assert_eq!(
            shown(secret, "it begins with 0123456789"),
            "it begins with 0123456789"
        );
    }

    #[test]
    fn a_short_secret_is_found_as_a_word_and_garbles_nothing() {
        assert_eq!(shown("a", "secret a is wrong"), WITHHELD);
        assert_eq!(shown("a", "bad parameter"), "bad parameter");
        assert_eq!(shown("::", "it was ::"), WITHHELD);
        assert_eq!(shown("", "anything"), "anything");
    }
}
