//! Idempotency: a key is scoped to the actor; the same command again gives the durable result, another one conflicts.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::app::App;
use crate::call::Call;
use crate::canonical::canonical;
use crate::keys;
use crate::message::Request;
use crate::refusal::Refusal;

/// How many results are kept. The contract's replay window is not shown.
const KEPT: usize = 100_000;

/// Whose key, with which application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

/// The durable results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    kept: HashMap<Scope, (Fingerprint, Value)>,
    order: VecDeque<Scope>,
}

impl Results {
    /// Looks a command up; a key used for another one is refused with 409.
    pub(crate) fn look_up(&self, scope: &Scope, print: &Fingerprint) -> Result<Known, Refusal> {
        match self.kept.get(scope) {
            None => Ok(Known::New),
            Some((same, result)) if same == print => Ok(Known::Replay(result.clone())),
            Some(_) => Err(Refusal::conflict(
                "idempotency_conflict",
                "the key was used for a different command",
            )),
        }
    }

    pub(crate) fn keep(&mut self, scope: Scope, print: Fingerprint, result: Value) {
        if self.kept.insert(scope.clone(), (print, result)).is_none() {
            self.order.push_back(scope);
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

/// The fingerprint of a parsed command: order of members, spacing and null members do not matter.
pub(crate) fn fingerprint(call: &Call<'_>) -> Result<Fingerprint, Refusal> {
    let command = canonical(call.request.body()?)
        .map_err(|error| Refusal::invalid(format!("the body is not JSON: {error}")))?;
    Ok(keys::digest(
        format!("{}{command}", call.operation.id()).as_bytes(),
    ))
}
