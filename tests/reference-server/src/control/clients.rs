//! Clients over HTTP.

use serde::Deserialize;
use serde_json::json;

use super::body;
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

pub(super) fn add(suite: &Suite, request: &Request, _: &str) -> Answer {
    let client: Client = body(request)?;
    let mut spec = ClientSpec::new(&client.id, client.secret);
    if let Some(scopes) = client.scopes {
        spec = spec.scopes(scopes);
    }
    if let Some(names) = client.apps {
        let app = |name: &String| {
            App::from_id(name)
                .ok_or_else(|| Refusal::invalid(format!("unknown application {name:?}")))
        };
        spec = spec.apps(names.iter().map(app).collect::<Result<Vec<_>, _>>()?);
    }
    if client.workspace == Some(false) {
        spec = spec.without_workspace();
    }
    if let Some(actor) = client.acting_for {
        spec = spec.acting_for(actor);
    }
    suite.add_client(spec);
    Ok(Reply::json(201, &json!({"id": client.id})))
}
