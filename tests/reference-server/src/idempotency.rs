//! Idempotency keys. A key belongs to an actor: a repeated command returns the stored result, and a different command
//! conflicts.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::call::Call;
use crate::data::Store;
use crate::keys;
use crate::refusal::Refusal;

/// The number of stored results. The contract doesn't document how long servers remember keys (A54).
const KEPT: usize = 100_000;

/// The digest that identifies equal commands.
pub(crate) type Fingerprint = [u8; 32];

/// The digest of an application, an actor and a key.
type Scope = [u8; 16];

/// The stored results in compact form, because a server under load stores many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    kept: HashMap<Scope, (Fingerprint, Box<str>)>,
    order: VecDeque<Scope>,
}

impl Results {
    /// A key that was used for another command is a 409.
    fn look_up(&self, scope: &Scope, print: &Fingerprint) -> Result<Option<Value>, Refusal> {
        match self.kept.get(scope) {
            None => Ok(None),
            Some((same, result)) if same == print => {
                Ok(Some(serde_json::from_str(result).unwrap_or_default()))
            }
            Some(_) => Err(Refusal::conflict(
                "idempotency_conflict",
                "this key was used for a different command",
            )),
        }
    }

    fn keep(&mut self, scope: Scope, print: Fingerprint, result: &Value) {
        let result = result.to_string().into_boxed_str();
        if self.kept.insert(scope, (print, result)).is_none() {
            self.order.push_back(scope);
        }
        while self.order.len() > KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.kept.remove(&oldest);
            }
        }
    }
}

pub(crate) struct Settled {
    pub(crate) result: Value,
    pub(crate) replayed: bool,
}

/// Returns the stored result of a committed command, or applies the command and stores its result, in one step. If the
/// result has a `replayed` field, that field is set accordingly.
pub(crate) fn once(
    call: &Call<'_>,
    key: &str,
    print: Fingerprint,
    apply: impl FnOnce(&mut Store) -> Result<Value, Refusal>,
) -> Result<Settled, Refusal> {
    let app = call.operation.app;
    let actor = call.caller.as_ref().map(|caller| caller.actor);
    let actor = actor.map_or_else(String::new, |actor| actor.to_string());
    let digest = keys::digest(format!("{app}\n{actor}\n{key}").as_bytes());
    let mut scope = Scope::default();
    scope.copy_from_slice(&digest[..16]);
    let mut store = call.suite.store_mut();
    let known = store.results.look_up(&scope, &print)?;
    let replayed = known.is_some();
    let mut result = match known {
        Some(result) => result,
        None => apply(&mut store)?,
    };
    if !replayed {
        store.results.keep(scope, print, &result);
        call.committed();
    } else if let Some(member) = result.get_mut("replayed") {
        *member = true.into();
    }
    Ok(Settled { result, replayed })
}

/// Does the same as [`once`] with the `Idempotency-Key` header, which the contract requires.
pub(crate) fn once_per_key(
    call: &Call<'_>,
    apply: impl FnOnce(&mut Store) -> Result<Value, Refusal>,
) -> Result<Settled, Refusal> {
    let key = call.request.header("idempotency-key").unwrap_or_default();
    once(call, key, fingerprint(call, &call.sent.canonical), apply)
}

/// Returns the fingerprint of a parsed command. Notation, field order and null fields don't matter.
pub(crate) fn fingerprint(call: &Call<'_>, command: &str) -> Fingerprint {
    keys::digest([&*call.operation.id, command].concat().as_bytes())
}
