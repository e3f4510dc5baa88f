//! How does my service notice that the suite's contracts have changed, and how does it cope?
//!
//! Dependencies: sdk-crm, `serde_json` and tokio (features `macros` and `rt-multi-thread`). The demonstration starts
//! sdk-reference-server, and lets it respond as an updated suite would; a service calls `Suite::from_env()` instead.

use sdk_crm::{App, Client, Error, Method, SchemaPolicy, Suite, least_scopes, operations};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = ReferenceServer::start().await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let crm = Client::new(&suite)?;

    println!("At start-up, compare the contract with the one that the SDK was built for:");
    println!("  {}", crm.check_contract().await?);

    // The CRM is updated: a later version, and a response with another schema, another field and another value.
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

    println!("By default, a call fails if the schema of its response is another one:");
    if let Err(error) = crm.today().get().await {
        println!("  {error}");
    }

    println!("A report or an export tolerates it. Unknown fields are preserved:");
    let today = crm.today().get().schema_policy(SchemaPolicy::Warn).await?;
    let unknown: Vec<&str> = today.extra.iter().map(|(name, _)| name).collect();
    println!("  {} in the queue, {unknown:?}", today.attention.len());

    println!("At start-up, check that the token has the scopes for these operations:");
    let needed = [&operations::LIST_PEOPLE, &operations::SUBMIT_COMMAND];
    println!("  needed: {:?}", least_scopes(&needed));
    let narrow = suite.with_scopes(App::Crm, ["crm:people:read"])?;
    let missing = Client::new(&narrow)?.missing_scopes(&needed).await?;
    println!("  {missing}");

    println!("Call an endpoint that this SDK doesn't know, with token, retries and errors:");
    let notes = crm.raw_call((Method::Get, "/api/crm/v1/notes"));
    match notes.query("limit", "10").await {
        Ok(notes) => println!("  {}", notes.as_str().len()),
        Err(error) => println!("  {error}"),
    }
    Ok(())
}
