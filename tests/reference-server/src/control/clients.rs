//! Clients over HTTP.

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::json;

use super::{body, ok};
use crate::app::App;
use crate::call::Answer;
use crate::client::ClientSpec;
use crate::message::{Reply, Request};
use crate::refusal::Refusal;
use crate::suite::Suite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Client {
    id: String,
    secret: String,
    scopes: Option<Vec<String>>,
    apps: Option<Vec<String>>,
    workspace: Option<bool>,
    acting_for: Option<String>,
}

/// The clients without their secrets.
pub(super) fn list(suite: &Suite, _: &Request, _: &str) -> Answer {
    // In the order in which an exchange takes the two.
    let registry = suite.registry();
    let store = suite.store();
    let shown = registry.clients().into_iter().map(|client| {
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
    ok(&json!({"clients": shown.collect::<Vec<_>>()}))
}

pub(super) fn remove(suite: &Suite, request: &Request, id: &str) -> Answer {
    let id = percent_decode_str(id).decode_utf8_lossy();
    if !suite.registry().remove(&id) {
        return Err(Refusal::not_found(format!("no client {id:?}")));
    }
    list(suite, request, "")
}

pub(super) fn add(suite: &Suite, request: &Request, _: &str) -> Answer {
    let client: Client = body(request)?;
    let mut spec = ClientSpec::new(&client.id, client.secret);
    if let Some(scopes) = client.scopes {
        spec = spec.scopes(scopes);
    }
    if let Some(names) = client.apps {
        let app = |(place, name): (usize, &String)| {
            let problem = || format!("apps[{place}]: unknown application {name:?}");
            App::from_id(name).ok_or_else(|| Refusal::invalid(problem()))
        };
        let apps = names.iter().enumerate().map(app);
        spec = spec.apps(apps.collect::<Result<Vec<_>, _>>()?);
    }
    if client.workspace == Some(false) {
        spec = spec.without_workspace();
    }
    if let Some(actor) = client.acting_for {
        spec = spec.acting_for(actor);
    }
    suite.add_client(spec).map_err(Refusal::invalid)?;
    Ok(Reply::json(201, &json!({"id": client.id})))
}
