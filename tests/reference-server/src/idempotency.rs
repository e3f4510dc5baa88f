//! Idempotency: a key is scoped to the actor; the same command again gives the durable result, another one conflicts.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::app::App;
use crate::call::Call;
use crate::json::Json;
use crate::keys;
use crate::message::Request;
use crate::refusal::Refusal;

/// How many results are kept. The contract's replay window is not shown.
const KEPT: usize = 100_000;

/// Whose key, with which application.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) app: App,
    pub(crate) actor: u64,
    pub(crate) key: String,
}

/// A command in the form in which two of them are compared.
pub(crate) type Fingerprint = [u8; 32];

/// What is known about a command with a key.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// The key is new.
    New,
    /// The same command was committed, with this result.
    Replay(Value),
}

/// The durable results, in as little space as they need: a server under load keeps many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    kept: HashMap<Digest, (Fingerprint, Box<str>)>,
    order: VecDeque<Digest>,
}

/// Stands for a [`Scope`].
type Digest = [u8; 16];

impl Scope {
    fn digest(&self) -> Digest {
        let text = format!("{}\n{}\n{}", self.app, self.actor, self.key);
        let mut digest = Digest::default();
        digest.copy_from_slice(&keys::digest(text.as_bytes())[..16]);
        digest
    }
}

impl Results {
    /// Looks a command up; a key used for another one is refused with 409.
    pub(crate) fn look_up(&self, scope: &Scope, print: &Fingerprint) -> Result<Known, Refusal> {
        match self.kept.get(&scope.digest()) {
            None => Ok(Known::New),
            Some((same, result)) if same == print => Ok(Known::Replay(
                serde_json::from_str(result).unwrap_or_default(),
            )),
            Some(_) => Err(Refusal::conflict(
                "idempotency_conflict",
                "the key was used for a different command",
            )),
        }
    }

    pub(crate) fn keep(&mut self, scope: &Scope, print: Fingerprint, result: &Value) {
        let digest = scope.digest();
        let result = result.to_string().into_boxed_str();
        if self.kept.insert(digest, (print, result)).is_none() {
            self.order.push_back(digest);
        }
        while self.order.len() > KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.kept.remove(&oldest);
            }
        }
    }
}

/// The `Idempotency-Key` of a request: required, once, 16 to 160 of the documented characters.
pub(crate) fn required_key(request: &Request) -> Result<&str, Refusal> {
    let key = request
        .header("idempotency-key")
        .ok_or_else(|| Refusal::invalid("Idempotency-Key: needed once"))?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    if !(16..=160).contains(&key.len()) || !key.bytes().all(allowed) {
        let rule = "Idempotency-Key: 16 to 160 characters of A-Z a-z 0-9 . _ : - are needed";
        return Err(Refusal::invalid(rule));
    }
    Ok(key)
}

/// The fingerprint of a parsed command: notation, order of members and null members do not matter.
pub(crate) fn fingerprint(call: &Call<'_>, command: &Json) -> Fingerprint {
    keys::digest(format!("{}{command}", call.operation.id()).as_bytes())
}
