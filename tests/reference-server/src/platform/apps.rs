//! Installed apps. The list contains the apps that the client is entitled to.

use serde_json::{Value, json};

use crate::app::App;
use crate::call::{Answer, Call};
use crate::generated::contracts::contract;
use crate::message::Reply;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    let items: Vec<Value> = App::all()
        .filter(|app| *app != App::Platform && caller.is_entitled(*app))
        .map(|app| {
            let contract = contract(app);
            let status = match app {
                App::Crm | App::Calendar | App::Platform => "restricted",
                App::Accounting => "not-public",
            };
            json!({
                "appId": app.id(),
                "displayName": contract.title,
                "contractVersion": contract.version,
                "lifecycle": "preview",
                "runtimeStatus": status,
                "origin": call.suite.url(app),
            })
        })
        .collect();
    Ok(Reply::ok(&json!({"items": items})))
}
