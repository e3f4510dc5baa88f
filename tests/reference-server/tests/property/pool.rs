//! References that the server has shown: only with them does a request reach a record.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::Value;

/// How many of a kind are kept.
const KEPT: usize = 60;

#[derive(Default)]
pub(crate) struct Pool(BTreeMap<String, Vec<String>>);

impl Pool {
    /// Takes every reference from a reply.
    pub(crate) fn harvest(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.take(text),
            Value::Array(items) => items.iter().for_each(|item| self.harvest(item)),
            Value::Object(members) => members.values().for_each(|member| self.harvest(member)),
            _ => {}
        }
    }

    fn take(&mut self, text: &str) {
        let Some((prefix, digits)) = text.split_once('-') else {
            return;
        };
        let plain = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        };
        if digits.len() == 12 && plain(digits) && plain(prefix) {
            let known = self.0.entry(prefix.to_owned()).or_default();
            if known.len() < KEPT && !known.iter().any(|known| known == text) {
                known.push(text.to_owned());
            }
        }
    }

    /// One that begins so, if any was seen.
    pub(crate) fn pick(&self, prefix: &str, random: &mut Rng) -> Option<String> {
        let known = self.0.get(prefix.trim_end_matches('-'))?;
        Some(random.choice(known).cloned().unwrap())
    }
}
