//! How does my service detect contract changes, and how does it keep working?
//!
//! Dependencies: sdk-crm, `serde_json` and tokio (features `macros` and `rt-multi-thread`). This demo starts
//! sdk-reference-server, which responds like an updated suite. A real service calls `Suite::from_env()` instead.

use sdk_crm::{App, Client, Error, Method, SchemaPolicy, Suite, least_scopes, operations};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = ReferenceServer::start().await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let crm = Client::new(&suite)?;

    println!("At startup, compare the suite's contract with the contract the SDK was built for:");
    println!("  {}", crm.check_contract().await?);

    // The CRM is updated to a later version. Its responses have a new schema, a new field and a new enum value.
    let metadata = json!({"service": "suite-crm", "version": "3.1.0", "status": "preview"});
    server
        .fault(Operation::GetCrmMetadata)
        .body(metadata.to_string(), "application/json");
    server
        .fault(Operation::GetToday)
        .schema_suffix("v2")
        .unknown_member()
        .unknown_enum();
    println!("After an update:");
    println!("  {}", crm.check_contract().await?);

    println!("By default, a call fails if its response has another schema:");
    if let Err(error) = crm.today().get().await {
        println!("  {error}");
    }

    println!("A report or an export can accept the new schema. The SDK preserves unknown fields:");
    let today = crm.today().get().schema_policy(SchemaPolicy::Warn).await?;
    let unknown: Vec<&str> = today.extra.iter().map(|(name, _)| name).collect();
    println!("  {} in the queue, {unknown:?}", today.attention.len());

    println!("At startup, check that the token has the scopes for these operations:");
    let needed = [&operations::LIST_PEOPLE, &operations::SUBMIT_COMMAND];
    println!("  needed: {:?}", least_scopes(&needed));
    let narrow = suite.with_scopes(App::Crm, ["crm:people:read"])?;
    let missing = Client::new(&narrow)?.missing_scopes(&needed).await?;
    println!("  {missing}");

    println!("Call an undocumented endpoint, with the same tokens, retries and errors:");
    let notes = crm.raw_call((Method::Get, "/api/crm/v1/notes"));
    match notes.query("limit", "10").await {
        Ok(notes) => println!("  {}", notes.as_str().len()),
        Err(error) => println!("  {error}"),
    }
    Ok(())
}
