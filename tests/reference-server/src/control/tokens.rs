//! Tokens over HTTP.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{body, ok};
use crate::call::Answer;
use crate::message::Request;
use crate::refusal::Refusal;
use crate::seconds::Seconds;
use crate::suite::Suite;
use crate::token::registry::{self, ExpiresIn};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Change {
    #[serde(rename = "lifetimeSeconds")]
    lifetime: Option<Seconds>,
    /// A value for `expires_in`, regardless of the real lifetime.
    expires_in: Option<Value>,
    omit_expires_in: bool,
    /// Reports the real lifetime in `expires_in` again.
    honest_expires_in: bool,
}

pub(super) fn get(suite: &Suite, _: &Request, _: &str) -> Answer {
    let registry = suite.registry();
    let (name, value) = match &registry.expires_in {
        ExpiresIn::Actual => ("honestExpiresIn", json!(true)),
        ExpiresIn::Fixed(value) => ("expiresIn", value.clone()),
        ExpiresIn::Omitted => ("omitExpiresIn", json!(true)),
    };
    ok(&json!({
        "lifetimeSeconds": registry.lifetime().as_secs_f64(),
        "issued": suite.counters.exchanges(),
        (name): value,
    }))
}

pub(super) fn set(suite: &Suite, request: &Request, _: &str) -> Answer {
    let change: Change = body(request)?;
    let expires_in = match (
        change.expires_in,
        change.omit_expires_in,
        change.honest_expires_in,
    ) {
        (None, false, false) => None,
        (Some(value), false, false) => Some(ExpiresIn::Fixed(value)),
        (None, true, false) => Some(ExpiresIn::Omitted),
        (None, false, true) => Some(ExpiresIn::Actual),
        _ => {
            let message = "expiresIn, omitExpiresIn and honestExpiresIn exclude each other";
            return Err(Refusal::invalid(message));
        }
    };
    let lifetime = change
        .lifetime
        .map(|Seconds(asked)| registry::lifetime("lifetimeSeconds", asked))
        .transpose()
        .map_err(Refusal::invalid)?;
    {
        let mut registry = suite.registry();
        if let Some(lifetime) = lifetime {
            registry.set_lifetime(lifetime);
        }
        registry.expires_in = expires_in.unwrap_or_else(|| registry.expires_in.clone());
    }
    get(suite, request, "")
}

pub(super) fn revoke(suite: &Suite, request: &Request, _: &str) -> Answer {
    suite.registry().revoke_all();
    get(suite, request, "")
}
