//! Tokens and clients over HTTP.

use serde::Deserialize;
use serde_json::json;

use crate::call::{Answer, Call};
use crate::client::ClientSpec;
use crate::message::{Reply, Seconds};
use crate::refusal::Refusal;
use crate::schema;
use crate::token::registry;

pub(super) fn tokens(call: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({
        "lifetimeSeconds": call.suite.registry().lifetime.as_secs_f64(),
        "issued": call.suite.counters.exchanges(),
    })))
}

#[derive(Deserialize)]
struct Settings {
    #[serde(rename = "lifetimeSeconds")]
    lifetime: Option<Seconds>,
}

pub(super) fn set_tokens(call: &Call<'_>) -> Answer {
    let settings: Settings = schema::fields(call.body())?;
    if let Some(Seconds(asked)) = settings.lifetime {
        let lifetime = registry::lifetime("lifetimeSeconds", asked).map_err(Refusal::invalid)?;
        call.suite.registry().lifetime = lifetime;
    }
    tokens(call)
}

pub(super) fn revoke_tokens(call: &Call<'_>) -> Answer {
    call.suite.registry().revoke_all();
    tokens(call)
}

/// Lists the clients without their secrets.
pub(super) fn clients(call: &Call<'_>) -> Answer {
    // Lock in the same order as a token exchange.
    let registry = call.suite.registry();
    let store = call.suite.store();
    let clients = registry.clients.values().map(|client| {
        let spec = &client.spec;
        json!({
            "id": spec.id,
            "scopes": client.scopes,
            "apps": spec.entitlements(),
            "workspace": spec.has_workspace(),
            "actingFor": store.actors.reference(client.actor),
        })
    });
    Ok(Reply::ok(&json!({"clients": clients.collect::<Vec<_>>()})))
}

pub(super) fn add_client(call: &Call<'_>) -> Answer {
    let client: ClientSpec = schema::fields(call.body())?;
    let answer = json!({"id": client.id});
    call.suite.add_client(client).map_err(Refusal::invalid)?;
    Ok(Reply::json(201, &answer))
}

pub(super) fn remove_client(call: &Call<'_>) -> Answer {
    let id = call.param(0);
    if call.suite.registry().clients.remove(id).is_none() {
        return Err(Refusal::not_found(format!("no client {id:?}")));
    }
    clients(call)
}
