use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::zeroize::Zeroizing;
use serde_json::Value;

use crate::secret::decoded::forms;
use crate::text::{Line, is_unseen};

/// Replaces a text of a server that repeats something confidential.
const WITHHELD: &str = "[withheld: it repeats a confidential value]";

/// Replaces a code or an id, which often stands next to [`WITHHELD`].
const WITHHELD_IN_SHORT: &str = "[withheld]";

/// How much of a text is searched, and shown, at most: the rest cannot leak.
const LONGEST_LOOK: usize = 4096;

/// How many secrets of a reply are looked for in its texts. A token has three companions at most; a reply with thousands would
/// take minutes.
const MOST_OF_REPLY: usize = 32;

/// Values of this many letters and digits are found whatever surrounds them. A word is as long, so a text may contain a
/// caller's value by accident: it is withheld all the same.
const TELLING: usize = 8;

/// [`TELLING`] for letters mixed with digits, which no word has.
const TELLING_MIXED: usize = 5;

/// How much of a secret a text must not repeat.
const PART_OF_SECRET: usize = 8;

/// How much of a caller's long value a text must not repeat.
const PART: usize = 16;

/// How many replaced tokens, or credentials, are remembered, since a server may still repeat them.
const RECENT: usize = 16;

/// Values that must not be shown: credentials, tokens, keys, and what a caller sent in confidential headers and parameters.
///
/// A server can repeat such a value in any form, in any text, and that text is then withheld as a whole. Replacing letters
/// would garble texts that contain a short secret by accident, and leave the rest of a secret that was cut in half.
#[derive(Default)]
pub(crate) struct Confidential {
    needles: Vec<Arc<Needle>>,
    /// Whether there are too many values to look for, so that every text counts as repeating one.
    is_all: bool,
}

/// A value to look for, in memory that is wiped on drop.
pub(crate) struct Needle {
    text: Zeroizing<String>,
    /// Its letters and digits alone, in lower case.
    bare: Zeroizing<String>,
    /// The ASCII ones among these, unless all are: they survive when one encoding is read as another.
    ascii: Option<Zeroizing<String>>,
    /// How many of its letters and digits a text must not repeat.
    part: usize,
}

impl Confidential {
    /// Adds a value that a caller sent: no text may repeat it or a large part of it.
    pub(crate) fn add(&mut self, text: &str) {
        self.needles.extend(Needle::of(text, false));
    }

    /// Adds a credential or a token: no text may repeat any part of it.
    pub(crate) fn add_secret(&mut self, text: &str) {
        self.needles.extend(Needle::of(text, true));
    }

    /// Adds the members of a JSON text that are named like tokens or secrets.
    pub(crate) fn add_secrets_of(&mut self, json: &[u8]) {
        if let Ok(value) = serde_json::from_slice(json) {
            self.add_members(&value, false);
        }
    }

    /// [`add_secrets_of`](Self::add_secrets_of) a reply. Of one with too many, nothing is shown.
    pub(crate) fn add_secrets_of_reply(&mut self, json: &[u8]) {
        let before = self.needles.len();
        self.add_secrets_of(json);
        self.is_all |= self.needles.len() - before > MOST_OF_REPLY;
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
                // `token_type` is not a secret.
                let named = !name.ends_with("type") && secret.iter().any(|it| name.contains(it));
                self.add_members(member, is_secret || named);
            }),
            _ => {}
        }
    }

    /// A server's text on one line, or a notice that it is withheld.
    pub(crate) fn line(&self, line: Line, text: &str) -> String {
        let end = text.char_indices().nth(LONGEST_LOOK);
        let text = end.map_or(text, |(end, _)| &text[..end]);
        match self.is_in(text) {
            false => line.of(text),
            true if line.longest() < Line::Message.longest() => WITHHELD_IN_SHORT.to_owned(),
            true => WITHHELD.to_owned(),
        }
    }

    /// Whether a text repeats any of these values, in whatever form. One that is too long to be searched does.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        if self.needles.is_empty() || text.is_empty() {
            return false;
        }
        if self.is_all || text.chars().nth(LONGEST_LOOK).is_some() {
            return true;
        }
        // A text is shown without its invisible characters, so it is searched without them.
        let text = if text.contains(is_unseen) {
            Cow::Owned(text.replace(is_unseen, ""))
        } else {
            Cow::Borrowed(text)
        };
        forms(&text).iter().any(|form| {
            let bare = bare(form);
            let ascii = ascii(&bare);
            let ascii = ascii.as_ref().unwrap_or(&bare);
            let mut needles = self.needles.iter();
            needles.any(|needle| needle.is_in(form, &bare, ascii))
        })
    }
}

impl Needle {
    /// `None` for an empty text, which has nothing to find.
    fn of(text: &str, is_secret: bool) -> Option<Arc<Self>> {
        if text.trim().is_empty() {
            return None;
        }
        let bare = bare(text);
        let part = match is_secret {
            true => PART_OF_SECRET,
            false if bare.len() >= 2 * PART => PART,
            false => usize::MAX,
        };
        Some(Arc::new(Self {
            text: text.to_owned().into(),
            ascii: ascii(&bare).map(Zeroizing::new),
            bare: bare.into(),
            part,
        }))
    }

    fn is_in(&self, form: &str, bare_form: &str, ascii_form: &str) -> bool {
        let ascii = self.ascii.as_ref();
        found(&self.bare, bare_form, self.part)
            || ascii.is_some_and(|ascii| found(ascii, ascii_form, self.part))
            || stands_alone(&self.text, form)
    }
}

/// Whether a text contains these letters and digits, or a part of them.
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
    // A shared part has a shared half that starts at a multiple of a half: look for these first.
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

/// Secrets that were in use recently, those together that are used together.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Vec<Vec<Arc<Needle>>>>);

impl Recent {
    /// Remembers secrets as the latest ones, and forgets the oldest if there are many.
    pub(crate) fn keep<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let needles = secrets.into_iter().filter_map(|it| Needle::of(it, true));
        let needles: Vec<_> = needles.collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|known| {
            let mut pairs = known.iter().zip(&needles);
            known.len() != needles.len() || pairs.any(|(old, new)| old.text != new.text)
        });
        if kept.len() == RECENT {
            kept.remove(0);
        }
        kept.push(needles);
    }

    /// Adds them all to what is confidential.
    pub(crate) fn confide(&self, confidential: &mut Confidential) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        confidential.needles.extend(kept.iter().flatten().cloned());
    }
}

/// The letters and digits of a text in lower case, which stay the same when it is broken up or written in capitals.
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

/// The ASCII ones, unless all are.
fn ascii(bare: &str) -> Option<String> {
    (!bare.is_ascii()).then(|| bare.chars().filter(char::is_ascii).collect())
}

/// Whether a text contains another as a separate word, possibly in capitals or spaced out. A short secret within a longer word
/// is an accident.
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

/// What follows a word at the beginning of a text, where one other character may stand between its letters.
fn after<'a>(word: &str, text: &'a str) -> Option<&'a str> {
    let alike = |left: char, right: char| {
        if left.is_ascii() && right.is_ascii() {
            return left.eq_ignore_ascii_case(&right);
        }
        left.to_lowercase().eq(right.to_lowercase())
    };
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
    use super::{Confidential, RECENT, Recent, WITHHELD};
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
    fn what_is_long_enough_is_found_within_a_word_and_nothing_shorter() {
        for (secret, text, withheld) in [
            ("ab1cd", "xxab1cdxx", true),
            ("a1b", "xxa1bxx", false),
            ("password", "mypasswords", true),
            ("hunters", "myhuntersx", false),
            // Its first part begins the text.
            ("correct horse battery", "correct h", true),
            // Little of it is ASCII in one piece.
            ("añbñcñdñ1ñ2ñ3ñe", "a?b?c?d?1?2?3?e", true),
        ] {
            assert_eq!(shown(secret, text) == WITHHELD, withheld, "{secret}");
        }
    }

    #[test]
    fn the_secrets_of_a_json_text_are_those_with_a_telling_name() {
        let mut confidential = Confidential::default();
        let json =
            r#"{"clientSecrets":["canary-one",{"x":"canary-two"}],"token_type":"Bearer-of"}"#;
        confidential.add_secrets_of(json.as_bytes());
        let is_in = |text: &str| confidential.is_in(text);
        assert_eq!(
            ["canary-one", "canary-two", "Bearer-of"].map(is_in),
            [true, true, false]
        );
    }

    #[test]
    fn the_latest_secrets_are_remembered_with_all_that_belongs_to_them() {
        let recent = Recent::default();
        let is_known = |text: &str| {
            let mut confidential = Confidential::default();
            recent.confide(&mut confidential);
            confidential.is_in(text)
        };
        let secret = |number: u8| char::from(b'a' + number).to_string().repeat(9);
        let field = |number: u8| format!("{0}1{0}2{0}3{0}4{0}", char::from(b'a' + number));
        let keep = |number: u8| recent.keep([&*secret(number), &*field(number)]);
        let both = |number: u8| [is_known(&secret(number)), is_known(&field(number))];
        let most = u8::try_from(RECENT).unwrap();
        (0..most).for_each(keep);
        // What is given again counts once, and as the latest.
        (0..100).for_each(|_| keep(0));
        assert_eq!(both(1), [true, true]);
        keep(most);
        assert_eq!(both(1), [false, false]);
        for known in [0, 2, most] {
            assert_eq!(both(known), [true, true]);
        }
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
        // One that is not twice as long as a part counts as a whole.
        for (length, is_in) in [(31, false), (32, true)] {
            let value = &"0123456789abcdefghijklmnopqrstuvwxyz"[..length];
            let mut confidential = Confidential::default();
            confidential.add(value);
            assert_eq!(confidential.is_in(&value[..20]), is_in, "{length}");
            assert!(confidential.is_in(value));
        }
    }

    #[test]
    fn what_would_take_too_long_to_search_counts_as_repeating() {
        let mut confidential = Confidential::default();
        let secrets = |count: usize| {
            let each = |at| format!(r#""token{at}":"secret-{at}""#);
            format!("{{{}}}", (0..count).map(each).collect::<Vec<_>>().join(","))
        };
        confidential.add_secrets_of_reply(secrets(3).as_bytes());
        assert!(!confidential.is_in(&" ".repeat(4_096)));
        assert!(confidential.is_in(&" ".repeat(4_097)));
        assert!(!confidential.is_in("harmless"));
        confidential.add_secrets_of_reply(secrets(100).as_bytes());
        assert!(confidential.is_in("harmless"));
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
