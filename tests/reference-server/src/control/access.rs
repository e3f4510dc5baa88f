//! Tokens and clients over HTTP.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::call::{Answer, Call};
use crate::client::ClientSpec;
use crate::message::Reply;
use crate::refusal::Refusal;
use crate::schema;
use crate::seconds::Seconds;
use crate::token::registry::{self, ExpiresIn};

pub(super) fn tokens(call: &Call<'_>) -> Answer {
    let registry = call.suite.registry();
    let (name, value) = match &registry.expires_in {
        ExpiresIn::Actual => ("honestExpiresIn", json!(true)),
        ExpiresIn::Fixed(value) => ("expiresIn", value.clone()),
        ExpiresIn::Omitted => ("omitExpiresIn", json!(true)),
    };
    Ok(Reply::ok(&json!({
        "lifetimeSeconds": registry.lifetime().as_secs_f64(),
        "issued": call.suite.counters.exchanges(),
        (name): value,
    })))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    #[serde(rename = "lifetimeSeconds")]
    lifetime: Option<Seconds>,
    expires_in: Option<Value>,
    #[serde(default)]
    omit_expires_in: bool,
    #[serde(default)]
    honest_expires_in: bool,
}

pub(super) fn set_tokens(call: &Call<'_>) -> Answer {
    let settings: Settings = schema::fields(call.body())?;
    let choices = [
        settings.expires_in.map(ExpiresIn::Fixed),
        settings.omit_expires_in.then_some(ExpiresIn::Omitted),
        settings.honest_expires_in.then_some(ExpiresIn::Actual),
    ];
    let mut chosen = choices.into_iter().flatten();
    let expires_in = chosen.next();
    if chosen.next().is_some() {
        let message = "expiresIn, omitExpiresIn and honestExpiresIn exclude each other";
        return Err(Refusal::invalid(message));
    }
    let lifetime = settings
        .lifetime
        .map(|Seconds(asked)| registry::lifetime("lifetimeSeconds", asked));
    let lifetime = lifetime.transpose().map_err(Refusal::invalid)?;
    {
        let mut registry = call.suite.registry();
        if let Some(lifetime) = lifetime {
            registry.set_lifetime(lifetime);
        }
        if let Some(expires_in) = expires_in {
            registry.expires_in = expires_in;
        }
    }
    tokens(call)
}

pub(super) fn revoke_tokens(call: &Call<'_>) -> Answer {
    call.suite.registry().revoke_all();
    tokens(call)
}

/// The clients without their secrets.
pub(super) fn clients(call: &Call<'_>) -> Answer {
    // In the order in which an exchange takes the two.
    let registry = call.suite.registry();
    let store = call.suite.store();
    let clients = registry.clients().into_iter().map(|client| {
        let spec = &client.spec;
        let apps = spec.apps.iter().map(|app| app.id());
        json!({
            "id": spec.id,
            "scopes": spec.scopes,
            "apps": apps.collect::<Vec<_>>(),
            "workspace": spec.workspace,
            "actingFor": store.actors.reference(client.actor),
        })
    });
    Ok(Reply::ok(&json!({"clients": clients.collect::<Vec<_>>()})))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Client {
    id: String,
    secret: String,
    scopes: Option<Vec<String>>,
    apps: Option<Vec<String>>,
    workspace: Option<bool>,
    acting_for: Option<String>,
}

pub(super) fn add_client(call: &Call<'_>) -> Answer {
    let client: Client = schema::fields(call.body())?;
    let mut spec = ClientSpec::new(&client.id, client.secret);
    if let Some(scopes) = client.scopes {
        spec = spec.scopes(scopes);
    }
    if let Some(apps) = client.apps {
        spec = spec.apps(apps.iter().filter_map(|id| App::from_id(id)));
    }
    if client.workspace == Some(false) {
        spec = spec.without_workspace();
    }
    if let Some(actor) = client.acting_for {
        spec = spec.acting_for(actor);
    }
    call.suite.add_client(spec).map_err(Refusal::invalid)?;
    Ok(Reply::json(201, &json!({"id": client.id})))
}

pub(super) fn remove_client(call: &Call<'_>) -> Answer {
    let id = call.param(0);
    if !call.suite.registry().remove(id) {
        return Err(Refusal::not_found(format!("no client {id:?}")));
    }
    clients(call)
}
