//! What a service sees when the suite is ahead of it: contracts are `preview` and change under running programs.
//!
//! ```text
//! cargo run --example drift
//! ```

#[path = "support/mod.rs"]
mod support;

use std::process::ExitCode;

use line::line;
use out::put;
use sdk_core::{App, Error, Method, SchemaPolicy, Suite, least_scopes};
use sdk_crm::operations;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;
use support::{line, out};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Error> {
    let server = ReferenceServer::start().await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    let accounting = sdk_accounting::Client::new(&suite)?;

    put!("At start-up, all is as expected:");
    put!("{}", crm.check_contract().await?);
    put!("{}", accounting.check_contract().await?);
    put!(
        "{}\n",
        sdk_calendar::Client::new(&suite)?.check_contract().await?
    );

    // The CRM is updated: a later contract, a new suffix on a schema, a new member and a new value in it.
    let metadata = json!({"service": "suite-crm", "version": "3.1.0", "status": "preview"});
    server
        .fault(Operation::GetCrmMetadata)
        .body(metadata.to_string(), "application/json");
    server
        .fault(Operation::GetToday)
        .schema_suffix("v2")
        .unknown_member()
        .unknown_enum();

    // Accounting, whose metadata is documented, is replaced before 1.0, where the second number is the one that counts.
    let metadata = json!({
        "schemaVersion": "suite-accounting-api.v2", "service": "suite-accounting", "version": "0.2.0",
        "status": "restricted", "openapiPath": "/openapi.yaml", "supportedUntil": "2026-12-31",
    });
    server
        .fault(Operation::GetAccountingMetadata)
        .body(metadata.to_string(), "application/json");

    put!("After an update of the CRM and of Accounting:");
    put!("{}", crm.check_contract().await?);
    put!("{}\n", accounting.check_contract().await?);

    put!("A reply of another schema is not acted upon:");
    match crm.today().get().await {
        Err(error) => put!("{error}\n"),
        Ok(_) => put!("taken\n"),
    }

    put!("Unless the program says that it copes:");
    let today = crm.today().get().schema_policy(SchemaPolicy::Warn).await?;
    let unknown: Vec<&str> = today.extra.iter().map(|(name, _)| name).collect();
    put!(
        "{} items of {}, unknown members: {unknown:?}\n",
        today.attention.len(),
        line(&today.schema_version)
    );

    put!("What a part of the program needs, and what its token lacks:");
    let needed = [&operations::LIST_PEOPLE, &operations::SUBMIT_COMMAND];
    put!("least scopes: {:?}", least_scopes(&needed));
    let narrow = sdk_crm::Client::new(&suite.with_scopes(App::Crm, ["crm:people:read"])?)?;
    put!("{}\n", narrow.missing_scopes(&needed).await?);

    put!("An endpoint that this SDK does not know yet, with token, retries and errors as ever:");
    match crm
        .raw_call((Method::Get, "/api/crm/v1/notes"))
        .query("limit", "10")
        .await
    {
        Ok(notes) => put!("{}", line(notes.as_str())),
        Err(error) => put!("{error}"),
    }
    Ok(out::end(ExitCode::SUCCESS))
}
