//! What a later contract adds to a body can be sent before the SDK knows it; parameters and headers: `contract::every`.

use sdk_accounting::types::ImportMode;
use sdk_platform::types::TokenForm;
use sdk_reference_server::Operation;

use crate::contract::world::World;
use crate::samples::{draft, event, import};
use crate::support::assert_says;

#[tokio::test]
async fn every_typed_body_takes_a_member_that_the_contract_does_not_show() {
    let World {
        server,
        calendar,
        accounting,
        platform,
        ..
    } = World::start().await;
    let digits = "123456789012345678901234567890";
    let new = digits.parse::<sdk_core::RawJson>().unwrap();
    let event = event("Kick-off").member("fromTheFuture", new.clone());
    let mut draft = draft(&server.sample_counterparty(), 1).member("fromTheFuture", new.clone());
    draft.tax_amount = draft.tax_amount.member("fromTheFuture", new.clone());
    let import = import("adapter", ImportMode::OpeningBalances).member("fromTheFuture", new);
    let exchange = TokenForm::new()
        .client_id(server.client_id())
        .client_secret(server.client_secret())
        .member("fromTheFuture", digits);

    calendar.events().command(&event).await.unwrap();
    accounting.invoice_drafts().create(&draft).await.unwrap();
    accounting.import_runs().create(&import).await.unwrap();
    platform.oauth().token(&exchange).await.unwrap();

    let sent = |operation: Operation| {
        let request = server.requests_for(operation).pop().unwrap();
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
    assert_says(&form, &["&fromTheFuture="]);
}
