use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use secrecy::zeroize::Zeroizing;
use serde_json::Value;

use crate::secret::patterns::{Forms, Patterns, Starts, readings};
use crate::text::TextKind;

/// Replaces a text of a server that repeats something confidential.
const REDACTED: &str = "[redacted: it repeats a confidential value]";

/// Replaces a code or an id, which often stands next to [`REDACTED`].
const REDACTED_IN_SHORT: &str = "[redacted]";

/// How many bytes of a text are searched, and shown, at most: the rest cannot leak.
const LONGEST_TEXT: usize = 4096;

/// How many bytes of texts are searched for one error. Real responses have a tenth of it in their headers and messages.
const MOST_TEXT: usize = 32 * 1024;

/// How many secrets of a response are looked for. A token has three companions at most.
const MOST_OF_REPLY: usize = 32;

/// How many replaced tokens and credentials are remembered, since a server may still repeat them.
const RECENT: usize = 32;

/// Values that must not be shown: credentials, tokens, keys, and what a caller sent in confidential headers and parameters.
///
/// A text that repeats such a value, in one of the encodings of [`Patterns`], is redacted as a whole. Replacing letters would
/// garble texts that contain a short secret by accident, and leave the rest of a secret that was cut in half.
///
/// A server writes the texts, and its response may contain the secrets, so both have a budget. Whatever exceeds it counts as
/// repeating a secret.
#[derive(Default)]
pub(crate) struct Redactor {
    recent: Vec<(Arc<SecretGroup>, Automaton)>,
    /// The values of one call.
    own: SecretGroup,
    own_automaton: Automaton,
    /// Whether there are too many values to look for.
    redacts_all: bool,
    /// How many bytes were searched so far.
    searched: AtomicUsize,
}

/// Built for the first text that may contain a secret, and dropped with the [`Redactor`]: it is large. `None` if there are too
/// many patterns.
type Automaton = OnceLock<Option<Patterns>>;

impl Redactor {
    /// Adds a value that no text may repeat.
    pub(crate) fn add(&mut self, secret: &str) {
        if !secret.trim().is_empty() {
            self.own.secrets.push(secret.to_owned().into());
            (self.own.starts, self.own_automaton) = Default::default();
        }
    }

    /// Adds the fields of a JSON text that are named like tokens or secrets.
    pub(crate) fn add_secrets_of(&mut self, json: &[u8]) {
        if let Ok(value) = serde_json::from_slice(json) {
            self.add_members(&value, false);
        }
    }

    /// [`add_secrets_of`](Self::add_secrets_of) a response. Of one with too many, nothing is shown.
    pub(crate) fn add_secrets_of_reply(&mut self, json: &[u8]) {
        let before = self.own.secrets.len();
        self.add_secrets_of(json);
        self.redacts_all |= self.own.secrets.len() - before > MOST_OF_REPLY;
    }

    fn add_members(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::String(text) if is_secret => self.add(text),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.add_members(item, is_secret)),
            Value::Object(members) => members.iter().for_each(|(name, member)| {
                let mut name = name.to_ascii_lowercase();
                name.retain(char::is_alphanumeric);
                let secret = ["token", "secret", "password", "assertion"];
                // `token_type` is not a secret.
                let named = !name.ends_with("type") && secret.iter().any(|it| name.contains(it));
                self.add_members(member, is_secret || named);
            }),
            _ => {}
        }
    }

    /// A server's text on one line, or a notice that it is redacted.
    pub(crate) fn line(&self, kind: TextKind, text: &str) -> String {
        let mut end = text.len().min(LONGEST_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        match self.matches(text) {
            false => kind.of(text),
            true if kind.longest() < TextKind::Message.longest() => REDACTED_IN_SHORT.to_owned(),
            true => REDACTED.to_owned(),
        }
    }

    /// Whether a text repeats any of these values, or is beyond the budget of the search.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let is_empty = self.recent.is_empty() && self.own.secrets.is_empty();
        if text.is_empty() || is_empty {
            return false;
        }
        if self.redacts_all || text.len() > LONGEST_TEXT {
            return true;
        }
        let searched = self.searched.fetch_add(text.len(), Ordering::Relaxed);
        if searched + text.len() > MOST_TEXT {
            return true;
        }
        let readings = readings(text);
        let recent = self.recent.iter().map(|(group, it)| (&**group, it));
        let mut all = recent.chain([(&self.own, &self.own_automaton)]);
        all.any(|(group, automaton)| readings.iter().any(|text| group.is_in(text, automaton)))
    }
}

/// Secrets that are used together.
#[derive(Default)]
pub(crate) struct SecretGroup {
    secrets: Vec<Zeroizing<String>>,
    /// Built by the first search: most secrets are never looked for. `None` if there are too many patterns.
    starts: OnceLock<Option<Starts>>,
}

impl SecretGroup {
    /// Whether a folded text repeats one of the secrets.
    fn is_in(&self, text: &str, automaton: &Automaton) -> bool {
        let forms = || Forms::of(&self.secrets);
        let starts = || Some(Starts::of(&forms()?));
        let Some(starts) = self.starts.get_or_init(starts) else {
            return true;
        };
        if !starts.may_be_in(text) {
            return false;
        }
        let patterns = automaton.get_or_init(|| Patterns::of(&forms()?));
        patterns.as_ref().is_none_or(|it| it.are_in(text))
    }
}

/// The credentials and tokens of a suite that were in use recently, since a server may still repeat them. What is used together
/// is remembered, and forgotten, together.
#[derive(Default)]
pub(crate) struct RecentSecrets(Mutex<Vec<Arc<SecretGroup>>>);

impl RecentSecrets {
    /// Remembers secrets as the latest ones, and forgets the oldest if there are many.
    pub(crate) fn keep<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let secrets = secrets.into_iter().filter(|it| !it.trim().is_empty());
        let secrets: Vec<_> = secrets.map(|it| it.to_owned().into()).collect();
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = groups.iter().position(|group| group.secrets == secrets);
        let group = match known {
            Some(known) => groups.remove(known),
            None => Arc::new(SecretGroup {
                secrets,
                ..SecretGroup::default()
            }),
        };
        if groups.len() == RECENT {
            groups.remove(0);
        }
        groups.push(group);
    }

    /// Adds them all to what is confidential.
    pub(crate) fn add_secrets_to(&self, redactor: &mut Redactor) {
        let groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = groups.iter().map(|it| (Arc::clone(it), Automaton::new()));
        redactor.recent.extend(groups);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_TEXT, RECENT, REDACTED, RecentSecrets, Redactor};
    use crate::text::TextKind;

    fn shown(secret: &str, text: &str) -> String {
        let mut redactor = Redactor::default();
        redactor.add(secret);
        redactor.line(TextKind::Message, text)
    }

    #[test]
    fn a_text_that_repeats_a_secret_is_redacted_as_a_whole() {
        for text in [
            "wrong secret correct horse battery",
            "correct%20horse%20battery",
            "CORRECT+HORSE+BATTERY",
            "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5",
            "correct\u{200b} horse\u{ad} battery",
            "correct\nhorse  battery",
            "636F727265637420686F727365",
            "it begins with correct hors…",
        ] {
            assert_eq!(shown("correct horse battery", text), REDACTED, "{text}");
        }
        for text in ["wrong horse", "a correct hor", "c.o.r.r.e.c.t horse"] {
            assert_eq!(shown("correct horse battery", text), text);
        }
        assert_eq!(shown("Zürich-17-Straße", "ZÜRICH-17-STRAßE"), REDACTED);
    }

    #[test]
    fn a_short_secret_is_found_as_a_word_and_garbles_nothing() {
        for (secret, text) in [
            ("a", "secret a is wrong"),
            ("::", "it was ::"),
            ("a a", "xa a a"),
            ("open", "the door is OPEN"),
            ("hunter2", "idhunter2"),
            ("h&m", "not h&amp;m"),
            ("password", "mypasswords"),
            ("hunter22", "aHVudGVyMjI="),
        ] {
            assert_eq!(shown(secret, text), REDACTED, "{text}");
        }
        for (secret, text) in [
            ("a", "bad parameter"),
            ("", "anything"),
            ("\u{200b}", "anything"),
            ("open", "no opening"),
            ("a1b", "xxa1bxx"),
            ("hunters", "myhuntersx"),
        ] {
            assert_eq!(shown(secret, text), text);
        }
    }

    #[test]
    fn the_secrets_of_a_json_text_are_those_with_a_telling_name() {
        let mut redactor = Redactor::default();
        let json =
            r#"{"clientSecrets":["canary-one",{"x":"canary-two"}],"token_type":"Bearer-of"}"#;
        redactor.add_secrets_of(json.as_bytes());
        let is_in = |text: &str| redactor.matches(text);
        assert_eq!(
            ["canary-one", "canary-two", "Bearer-of"].map(is_in),
            [true, true, false]
        );
    }

    #[test]
    fn the_latest_secrets_are_remembered_with_all_that_belongs_to_them() {
        let recent = RecentSecrets::default();
        let is_known = |text: &str| {
            let mut redactor = Redactor::default();
            recent.add_secrets_to(&mut redactor);
            redactor.matches(text)
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
    fn what_is_beyond_the_budget_counts_as_repeating() {
        let secrets = |count: usize| {
            let each = |at| format!(r#""token{at}":"secret-{at}""#);
            format!("{{{}}}", (0..count).map(each).collect::<Vec<_>>().join(","))
        };
        let of = |secrets: &str| {
            let mut redactor = Redactor::default();
            redactor.add_secrets_of_reply(secrets.as_bytes());
            redactor
        };
        let few = of(&secrets(3));
        assert!(!few.matches(&" ".repeat(4_096)));
        assert!(few.matches(&" ".repeat(4_097)));
        assert!(!few.matches("harmless"));
        for _ in 1..MOST_TEXT / 4_096 {
            few.matches(&" ".repeat(4_096));
        }
        assert!(few.matches("harmless"));
        assert!(of(&secrets(100)).matches("harmless"));
        // More patterns than are looked for.
        let mut many = Redactor::default();
        (0..5_000).for_each(|at| many.add(&format!("{:012}", at * 7_919)));
        assert!(many.matches("harmless"));
    }
}
