//! What a later contract adds to a request can be sent before the SDK knows it: by every builder.

use std::collections::BTreeSet;

use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use sdk_platform::types::TokenRequest;
use sdk_reference_server::{Operation, RecordedRequest, ReferenceServer};
use serde_json::{Value, json};

use crate::support::{calendar_for, crm_for, suite_for};

/// Sends each call with a parameter and a header that no contract knows, and sees both arrive.
macro_rules! arrive {
    ($server:ident, $seen:ident, $($call:expr),+ $(,)?) => {$(
        let id = stringify!($call);
        $call.query("fromTheFuture", "a b&c").header("x-from-the-future", "yes").await.expect(id);
        let request = $server.requests().pop().unwrap();
        assert_eq!(request.header("x-from-the-future"), Some("yes"), "{id}");
        let query = request.query.unwrap_or_default();
        assert!(query.ends_with("fromTheFuture=a+b%26c"), "{id}: {query}");
        assert!($seen.insert(request.operation.unwrap()), "{id} twice");
    )+};
}

#[tokio::test]
async fn every_builder_takes_a_parameter_and_a_header_that_the_contract_does_not_show() {
    let server = ReferenceServer::start().await;
    let suite = suite_for(&server);
    let mut seen = BTreeSet::new();
    let crm = crm_for(&server);
    crm.prewarm().await.unwrap();
    let intake = &*server.sample_intake_submission();
    let task = json!({"commandType": "task.create", "payload": {"title": "Call back"}});
    let review = json!({"submissionReference": intake, "decision": "accept"});
    arrive!(
        server,
        seen,
        crm.service().health(),
        crm.service().ready(),
        crm.service().meta(),
        crm.today().get(),
        crm.intake().list(),
        crm.intake().get(intake),
        crm.people().list(),
        crm.people().get(&*server.sample_person()),
        crm.people().timeline(&*server.sample_person()),
        crm.organizations().list(),
        crm.organizations().get(&*server.sample_organization()),
        crm.opportunities().list(),
        crm.opportunities().get(&*server.sample_opportunity()),
        crm.tasks().list(),
        crm.search().query("an"),
        crm.funnel().get(),
        crm.actors().list(),
        crm.presentation().get(),
        crm.commands().submit(task),
        crm.intake().review(review),
    );
    let calendar = calendar_for(&server);
    calendar.prewarm().await.unwrap();
    arrive!(
        server,
        seen,
        calendar.events().command(&event()),
        calendar.attendance().respond(json!({})),
        calendar.recurrence().change(json!({})),
        calendar.holds().manage(json!({})),
    );
    let accounting = sdk_accounting::Client::new(&suite).unwrap();
    accounting.prewarm().await.unwrap();
    arrive!(
        server,
        seen,
        accounting.service().meta(),
        accounting.service().ready(),
        accounting.actor().get(),
        accounting.overview().get(),
        accounting.counterparties().list(),
        accounting.counterparties().create(json!({})),
        accounting.invoices().list(),
        accounting.invoice_drafts().create(&draft(&server)),
        accounting.import_runs().create(&import()),
        accounting.approval_intents().create(json!({})),
    );
    let platform = sdk_platform::Client::new(&suite).unwrap();
    platform.prewarm().await.unwrap();
    let (app, kind, record) = server.sample_publication();
    arrive!(
        server,
        seen,
        platform.oauth().token(&exchange(&server)),
        platform.apps().list(),
        platform.organization().get(),
        platform.publications().get(app, kind, record),
    );
    let others: Vec<Operation> = Operation::all()
        .filter(|operation| !seen.contains(operation))
        .collect();
    assert!(others.is_empty(), "not called here: {others:?}");
}

#[tokio::test]
async fn every_typed_body_takes_a_member_that_the_contract_does_not_show() {
    let server = ReferenceServer::start().await;
    let suite = suite_for(&server);
    let digits = "123456789012345678901234567890";
    let new = digits.parse::<sdk_core::RawJson>().unwrap();
    let accounting = sdk_accounting::Client::new(&suite).unwrap();
    let event = event().member("fromTheFuture", new.clone());
    let mut draft = draft(&server).member("fromTheFuture", new.clone());
    draft.tax_amount = draft.tax_amount.member("fromTheFuture", new.clone());
    let import = import().member("fromTheFuture", new);
    let exchange = exchange(&server).member("fromTheFuture", digits);

    calendar_for(&server)
        .events()
        .command(&event)
        .await
        .unwrap();
    accounting.invoice_drafts().create(&draft).await.unwrap();
    accounting.import_runs().create(&import).await.unwrap();
    let platform = sdk_platform::Client::new(&suite).unwrap();
    platform.oauth().token(&exchange).await.unwrap();

    let sent = |operation: Operation| {
        let of_it = |request: &RecordedRequest| request.operation == Some(operation);
        let request = server.requests().into_iter().rev().find(of_it).unwrap();
        String::from_utf8(request.body().to_vec()).unwrap()
    };
    for (operation, times) in [
        (Operation::SubmitEventCommand, 1),
        (Operation::CreateInvoiceDraft, 2),
        (Operation::CreateImportRun, 1),
    ] {
        let body = sent(operation);
        let member = format!(r#""fromTheFuture":{digits}"#);
        assert_eq!(body.matches(&member).count(), times, "{body}");
    }
    // The server keeps no value of a form that it does not know: it may be a secret.
    let form = sent(Operation::ExchangeToken);
    assert!(form.contains("&fromTheFuture="), "{form}");
}

fn event() -> EventCommand {
    EventCommand::create()
        .collection_reference("team")
        .title("Kick-off")
        .starts_at("2026-02-02T09:00:00Z".parse().unwrap())
        .ends_at("2026-02-02T10:00:00Z".parse().unwrap())
        .timezone("UTC")
}

fn draft(server: &ReferenceServer) -> InvoiceDraftCreate {
    let tax = TaxAmount::new()
        .currency("EUR")
        .minor_units("1900")
        .scale(2);
    let lines = [json!({"description": "Workshop"}).into()];
    InvoiceDraftCreate::new(&*server.sample_counterparty(), tax, lines)
}

fn import() -> ImportRunCreate {
    let (source, coverage): (Value, Value) =
        (json!({"name": "legacy"}), json!({"from": "2026-01-01"}));
    ImportRunCreate::new(
        "adapter",
        "1.0.0",
        source,
        ImportMode::OpeningBalances,
        coverage,
    )
}

fn exchange(server: &ReferenceServer) -> TokenRequest {
    TokenRequest::new()
        .client_id(server.client_id())
        .client_secret(server.client_secret())
}
