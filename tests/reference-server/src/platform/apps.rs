//! Installed apps: those that the client is entitled to.

use serde_json::{Value, json};

use crate::app::App;
use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    let items: Vec<Value> = App::ALL
        .into_iter()
        .filter(|app| *app != App::Platform && caller.is_entitled(*app))
        .map(|app| {
            let (name, version, status) = match app {
                App::Crm => ("CRM", "3.0.0", "restricted"),
                App::Calendar => ("Calendar", "1.6.0", "restricted"),
                App::Accounting => ("Accounting", "0.1.1", "not-public"),
                App::Platform => ("Platform", "v1", "restricted"),
            };
            json!({
                "appId": app.id(),
                "displayName": name,
                "contractVersion": version,
                "lifecycle": "preview",
                "runtimeStatus": status,
                "origin": call.suite.origin(app),
            })
        })
        .collect();
    Ok(Reply::ok(&json!({"items": items})))
}
