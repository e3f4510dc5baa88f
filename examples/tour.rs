//! Does the SDK work here? This calls all four applications in a few seconds.
//!
//! Dependencies: sdk-crm, sdk-calendar, sdk-accounting, sdk-platform, `serde_json` and tokio (features `macros` and
//! `rt-multi-thread`). Without any `SUITE_` variable, it starts sdk-reference-server in this process. If
//! you set `SUITE_CRM_URL` and the other variables, it calls your suite.

use sdk_accounting::types::{InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::{CalendarCommandResult, EventCommand};
use sdk_crm::{App, Error, IdempotencyKey, RawJson, Suite, one_line, types::OpportunityStage};
use sdk_reference_server::ReferenceServer;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut names = std::env::vars_os().map(|(name, _)| name);
    let server;
    let suite = if names.any(|name| name.to_string_lossy().starts_with("SUITE_")) {
        Suite::from_env()?
    } else {
        server = ReferenceServer::start().await;
        Suite::builder().variables(server.environment()).build()?
    };
    let crm = sdk_crm::Client::new(&suite)?;
    let calendar = sdk_calendar::Client::new(&suite)?;
    let accounting = sdk_accounting::Client::new(&suite)?;
    let platform = sdk_platform::Client::new(&suite)?;

    println!("Platform: the organization (the contract doesn't document its fields)");
    let organization = platform.organization().get().await?;
    println!("  {}", one_line(organization.as_str()));

    println!("CRM: today's queue, and a list over all pages");
    let tasks = crm.today().get().await?.attention.len();
    let list = crm
        .opportunities()
        .list()
        .stage(OpportunityStage::Qualified);
    let (mut opportunities, mut qualified) = (list.items(), 0);
    while let Some(_opportunity) = opportunities.try_next().await? {
        qualified += 1;
    }
    println!("  {tasks} in the queue, {qualified} qualified opportunities");

    println!("Calendar: one command, sent twice, applied once");
    let event = EventCommand::create()
        .collection_reference("tour")
        .title("Kick-off")
        .starts_at("2026-12-01T09:00:00Z")
        .ends_at("2026-12-01T09:45:00Z")
        .timezone("UTC");
    let key = IdempotencyKey::derive("tour/kick-off", ["2026-12-01"]);
    let call = calendar.events().command(&event).idempotency_key(key);
    let command = call.prepare()?;
    for _ in 0..2 {
        let call = calendar.send_prepared(&command);
        let receipt = call.typed::<CalendarCommandResult>().await?;
        let (status, operation) = (receipt.http_status(), &receipt.operation);
        let (event, replayed) = (&receipt.public_reference, receipt.replayed);
        println!("  {status} {operation} → {event}, replayed: {replayed}");
    }

    println!("Accounting: an invoice draft with an exact amount");
    let list = accounting.counterparties().list().await?.to_value()?;
    if let Some(counterparty) = list["items"][0]["publicReference"].as_str() {
        let tax = TaxAmount::new().currency("EUR");
        let tax = tax.minor_units("1900").scale(2);
        let line = RawJson::from(json!({"description": "Workshop", "quantity": 1}));
        let draft = InvoiceDraftCreate::new(counterparty, tax, [line]);
        let receipt = accounting.invoice_drafts().create(&draft).await?;
        println!("  {} {}", receipt.subject_reference, receipt.outcome);
    }

    println!("A token without the required scope: the error names the scope");
    let narrow = suite.with_scopes(App::Crm, ["crm:today:read"])?;
    if let Err(error) = sdk_crm::Client::new(&narrow)?.people().list().await {
        println!("  {error}");
    }
    println!("{:?}", suite.stats());
    Ok(())
}
