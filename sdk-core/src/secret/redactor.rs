use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use secrecy::zeroize::Zeroizing;
use serde_json::Value;

use crate::secret::patterns::{Forms, Patterns, Starts, readings};
use crate::text::TextKind;

/// Replaces a server's message that repeats a confidential value.
const REDACTED: &str = "[redacted: it repeats a confidential value]";

/// Replaces a code or an ID, which is often printed next to [`REDACTED`].
const REDACTED_IN_SHORT: &str = "[redacted]";

/// The maximum number of bytes of a message that are searched and printed. The rest is cut off.
const MAX_MESSAGE: usize = 4096;

/// The maximum number of message bytes that are searched per error. Real responses have a tenth of that in their
/// headers and messages.
const MAX_SEARCHED: usize = 32 * 1024;

/// The maximum number of secrets that are collected from a response. A token response has at most four.
const MAX_RESPONSE_SECRETS: usize = 32;

/// The number of replaced tokens and credentials that are remembered, because a server may still repeat them.
const RECENT: usize = 32;

/// The values that must not be printed: credentials, tokens, keys, and the confidential headers and parameters of a
/// caller.
///
/// If a message repeats such a value in one of the encodings of [`Patterns`], the whole message is redacted. Replacing
/// single characters would garble messages that contain a short secret by accident. It would also reveal the rest of a
/// secret that was cut in half.
///
/// A server writes the messages, and its response may contain the secrets, so both have limits. Anything above a limit
/// counts as repeating a secret.
#[derive(Default)]
pub(crate) struct Redactor {
    recent: Vec<(Arc<SecretGroup>, Automaton)>,
    call_secrets: SecretGroup,
    call_automaton: Automaton,
    /// There are too many secrets to search for.
    redacts_all: bool,
    searched: AtomicUsize,
}

/// Built for the first message that may contain a secret, and dropped with the [`Redactor`], because it is large.
/// `None` if there are too many patterns.
type Automaton = OnceLock<Option<Patterns>>;

impl Redactor {
    pub(crate) fn add(&mut self, secret: &str) {
        if !secret.trim().is_empty() {
            self.call_secrets.secrets.push(secret.to_owned().into());
            (self.call_secrets.starts, self.call_automaton) = Default::default();
        }
    }

    /// Adds the fields of a JSON document whose names contain `token`, `secret` and similar words.
    pub(crate) fn add_secrets_of(&mut self, json: &[u8]) {
        if let Ok(value) = serde_json::from_slice(json) {
            self.add_fields(&value, false);
        }
    }

    /// Adds the [secret fields](Self::add_secrets_of) of a response. If there are too many, all messages are redacted.
    pub(crate) fn add_secrets_of_reply(&mut self, json: &[u8]) {
        let before = self.call_secrets.secrets.len();
        self.add_secrets_of(json);
        self.redacts_all |= self.call_secrets.secrets.len() - before > MAX_RESPONSE_SECRETS;
    }

    fn add_fields(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::String(value) if is_secret => self.add(value),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.add_fields(item, is_secret)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                let mut name = name.to_ascii_lowercase();
                name.retain(char::is_alphanumeric);
                let secret = ["token", "secret", "password", "assertion"];
                // `token_type` is not a secret.
                let named = !name.ends_with("type") && secret.iter().any(|it| name.contains(it));
                self.add_fields(value, is_secret || named);
            }),
            _ => {}
        }
    }

    /// Formats a server's message as one line, or returns a redaction notice.
    pub(crate) fn line(&self, kind: TextKind, text: &str) -> String {
        let mut end = text.len().min(MAX_MESSAGE);
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

    /// Whether a string repeats any of these values, or exceeds the search budget.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let is_empty = self.recent.is_empty() && self.call_secrets.secrets.is_empty();
        if text.is_empty() || is_empty {
            return false;
        }
        if self.redacts_all || text.len() > MAX_MESSAGE {
            return true;
        }
        let searched = self.searched.fetch_add(text.len(), Ordering::Relaxed);
        if searched + text.len() > MAX_SEARCHED {
            return true;
        }
        let readings = readings(text);
        let recent = self.recent.iter().map(|(group, it)| (&**group, it));
        let mut all = recent.chain([(&self.call_secrets, &self.call_automaton)]);
        all.any(|(group, automaton)| readings.iter().any(|text| group.is_in(text, automaton)))
    }
}

#[derive(Default)]
pub(crate) struct SecretGroup {
    secrets: Vec<Zeroizing<String>>,
    /// Built by the first search, because most secrets are never searched for. `None` if there are too many patterns.
    starts: OnceLock<Option<Starts>>,
}

impl SecretGroup {
    /// Whether a folded string repeats one of the secrets.
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

/// The recent credentials and tokens of a suite, which a server may repeat, in groups that are used together.
#[derive(Default)]
pub(crate) struct RecentSecrets(Mutex<Vec<Arc<SecretGroup>>>);

impl RecentSecrets {
    /// Adds a group of secrets as the latest, and drops the oldest group if there are too many.
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

    pub(crate) fn add_secrets_to(&self, redactor: &mut Redactor) {
        let groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = groups.iter().map(|it| (Arc::clone(it), Automaton::new()));
        redactor.recent.extend(groups);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_SEARCHED, RECENT, REDACTED, RecentSecrets, Redactor};
    use crate::text::TextKind;

    fn shown(secret: &str, text: &str) -> String {
        let mut redactor = Redactor::default();
        redactor.add(secret);
        redactor.line(TextKind::Message, text)
    }

    #[test]
    fn a_message_that_repeats_a_secret_is_redacted_as_a_whole() {
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
    fn a_short_secret_is_redacted_only_as_a_word() {
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
    fn secrets_of_json_are_recognized_by_their_name() {
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
    fn the_latest_groups_of_secrets_are_remembered() {
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
        // A repeated group counts once, and as the latest.
        (0..100).for_each(|_| keep(0));
        assert_eq!(both(1), [true, true]);
        keep(most);
        assert_eq!(both(1), [false, false]);
        for known in [0, 2, most] {
            assert_eq!(both(known), [true, true]);
        }
    }

    #[test]
    fn exceeding_the_budget_counts_as_repeating_a_secret() {
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
        for _ in 1..MAX_SEARCHED / 4_096 {
            few.matches(&" ".repeat(4_096));
        }
        assert!(few.matches("harmless"));
        assert!(of(&secrets(100)).matches("harmless"));
        // More patterns than the automaton can have.
        let mut many = Redactor::default();
        (0..5_000).for_each(|at| many.add(&format!("{:012}", at * 7_919)));
        assert!(many.matches("harmless"));
    }
}
