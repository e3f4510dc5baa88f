//! What a process remembers of the idempotency keys that it sent, so that one key never meets two bodies.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fingerprint::{fingerprint, text_print};
use crate::idempotency::IdempotencyKey;

/// The last keys of a suite, each with the body that it stands for. Neither is kept: only hashes that mean nothing
/// outside of this process.
///
/// A key counts as taken while a call with it is under way, and for good once the command was committed or may have
/// been. A command that was refused or never sent gives its key back: the service has nothing under it that a
/// corrected command could contradict.
pub(crate) struct KeyLedger {
    capacity: usize,
    /// Of the keys: two, because 64 bits are too few to take one key for another.
    seeds: [u64; 2],
    /// Of the bodies.
    seed: u64,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    bodies: HashMap<u128, u64, BuildHasherDefault<AsItIs>>,
    /// From the oldest on; a key that was given back stays here until its turn comes.
    order: VecDeque<u128>,
}

/// Takes a number for its own hash: the keys are hashes already, of a seed that nobody knows.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write_u128(&mut self, hash: u128) {
        #[expect(clippy::cast_possible_truncation, reason = "half of it will do")]
        let half = hash as u64;
        self.0 = half;
    }

    /// What anything but a `u128` would come through.
    fn write(&mut self, bytes: &[u8]) {
        self.0 = text_print(bytes, self.0);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A key at the service that it is for.
#[derive(Clone, Copy)]
pub(crate) struct KeyUse<'a> {
    pub(crate) application: &'a str,
    pub(crate) path: &'a str,
    pub(crate) key: &'a IdempotencyKey,
    pub(crate) body: &'a [u8],
}

/// A key taken by a call. When it is dropped, the key is kept or given back.
pub(crate) struct Claim<'a> {
    ledger: &'a KeyLedger,
    key: u128,
    body: u64,
    /// Whether this call took it, and not one before.
    first: bool,
    /// Whether the command was committed or may have been.
    pub(crate) may_have_happened: bool,
}

/// The key was sent with another body.
#[derive(Debug)]
pub(crate) struct Reused;

impl KeyLedger {
    /// A ledger of so many keys; 0 remembers and refuses none.
    pub(crate) fn new(capacity: usize) -> Self {
        // The standard library's hash keys are random, and cost no further crate.
        let random = RandomState::new();
        Self {
            capacity,
            seeds: [0, 1].map(|half: u64| random.hash_one(half)),
            seed: random.hash_one(2_u64),
            seen: Mutex::default(),
        }
    }

    /// Takes a key for a body, unless it stands for another one.
    pub(crate) fn claim(&self, using: KeyUse<'_>) -> Result<Option<Claim<'_>>, Reused> {
        if self.capacity == 0 {
            return Ok(None);
        }
        let (key, body) = self.hashed(using);
        let mut seen = self.seen();
        let known = seen.bodies.get(&key).copied();
        if known.is_some_and(|known| known != body) {
            return Err(Reused);
        }
        if known.is_none() {
            seen.remember(key, body, self.capacity);
        }
        Ok(Some(Claim {
            ledger: self,
            key,
            body,
            first: known.is_none(),
            may_have_happened: false,
        }))
    }

    /// Whether a key stands for another body; takes nothing.
    pub(crate) fn contradicts(&self, using: KeyUse<'_>) -> bool {
        if self.capacity == 0 {
            return false;
        }
        let (key, body) = self.hashed(using);
        self.seen()
            .bodies
            .get(&key)
            .is_some_and(|known| *known != body)
    }

    fn hashed(&self, using: KeyUse<'_>) -> (u128, u64) {
        let KeyUse {
            application,
            path,
            key,
            body,
        } = using;
        let [high, low] = self.seeds.map(|seed| {
            [application, path, key.as_str()]
                .into_iter()
                .fold(seed, |seed, part| text_print(part.as_bytes(), seed))
        });
        let key = u128::from(high) << 64 | u128::from(low);
        (key, fingerprint(body, self.seed))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        match (self.first, self.may_have_happened) {
            (true, true) | (false, false) => {}
            (true, false) => {
                self.ledger.seen().bodies.remove(&self.key);
            }
            // The call that took it may have given it back meanwhile.
            (false, true) => {
                let mut seen = self.ledger.seen();
                if !seen.bodies.contains_key(&self.key) {
                    seen.remember(self.key, self.body, self.ledger.capacity);
                }
            }
        }
    }
}

impl Seen {
    fn remember(&mut self, key: u128, body: u64, capacity: usize) {
        if self.order.len() >= capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.bodies.remove(&oldest);
        }
        self.order.push_back(key);
        self.bodies.insert(key, body);
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyLedger, KeyUse};
    use crate::idempotency::IdempotencyKey;

    fn using<'a>(key: &'a IdempotencyKey, body: &'a str) -> KeyUse<'a> {
        KeyUse {
            application: "calendar",
            path: "/calendar/v1/event-commands",
            key,
            body: body.as_bytes(),
        }
    }

    fn key(name: &str) -> IdempotencyKey {
        IdempotencyKey::derive("ledger", [name])
    }

    /// A call with this key and body that ended well, or not.
    fn call(ledger: &KeyLedger, key: &IdempotencyKey, body: &str, happened: bool) -> bool {
        let claim = ledger.claim(using(key, body));
        claim.is_ok_and(|claim| {
            claim.unwrap().may_have_happened = happened;
            true
        })
    }

    #[test]
    fn a_key_stands_for_one_body_while_and_after_it_may_have_happened() {
        let ledger = KeyLedger::new(8);
        let key = key("a");
        let mut under_way = ledger.claim(using(&key, r#"{"a":1}"#)).unwrap().unwrap();

        assert!(!call(&ledger, &key, r#"{"a":2}"#, true));
        assert!(call(&ledger, &key, r#"{ "a": 1 }"#, true));
        under_way.may_have_happened = true;
        drop(under_way);

        assert!(!call(&ledger, &key, r#"{"a":2}"#, true));
        assert!(ledger.contradicts(using(&key, r#"{"a":2}"#)));
        assert!(!ledger.contradicts(using(&key, r#"{"a":1}"#)));
        let elsewhere = KeyUse {
            application: "accounting",
            ..using(&key, r#"{"a":2}"#)
        };
        assert!(ledger.claim(elsewhere).is_ok());
    }

    #[test]
    fn a_refused_command_gives_its_key_back_unless_another_call_had_it_too() {
        let ledger = KeyLedger::new(8);
        let key = key("a");
        assert!(call(&ledger, &key, "1", false));
        assert!(call(&ledger, &key, "2", false));

        let corrected = ledger.claim(using(&key, "3")).unwrap().unwrap();
        let mut twin = ledger.claim(using(&key, "3")).unwrap().unwrap();
        drop(corrected);
        twin.may_have_happened = true;
        drop(twin);

        assert!(!call(&ledger, &key, "1", true));
    }

    #[test]
    fn the_oldest_keys_are_forgotten_and_none_are_kept_at_zero() {
        let ledger = KeyLedger::new(2);
        for name in ["a", "b", "c"] {
            assert!(call(&ledger, &key(name), "1", true));
        }
        assert!(!call(&ledger, &key("c"), "2", true));
        assert!(!call(&ledger, &key("b"), "2", true));
        assert!(call(&ledger, &key("a"), "2", true));
        let none = KeyLedger::new(0);
        assert!(none.claim(using(&key("a"), "1")).unwrap().is_none());
    }

    #[test]
    fn its_size_is_bounded_whatever_is_given_back() {
        let ledger = KeyLedger::new(100);
        for number in 0..10_000_u32 {
            let key = key(&number.to_string());
            assert!(call(&ledger, &key, "1", number % 3 == 0));
        }
        let seen = ledger.seen();
        assert_eq!(seen.order.len(), 100);
        assert!(seen.bodies.len() <= 100);
    }
}
