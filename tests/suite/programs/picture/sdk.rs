//! The same command through the SDK, with default settings.

use std::sync::{Arc, Mutex, PoisonError};

use sdk_accounting::types::{InvoiceDraftCreate, TaxAmount};
use sdk_accounting::{Client, RawJson, Suite};
use sdk_core::Observer;
use sdk_core::observe::AttemptEnded;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;
use tokio::time::Instant;

use super::{Failure, Lane, Sent, lane, server};

/// The seed of the key and of the delay.
const SEED: u64 = 7;

pub(super) async fn run() -> Result<Lane, Failure> {
    let server = Arc::new(server());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let suite = Suite::builder()
        .transport(server.service())
        .variables(server.environment())
        .observer(Attempts {
            server: Arc::clone(&server),
            sent: Arc::clone(&sent),
        })
        .seed(SEED)
        .build()?;
    let accounting = Client::new(&suite)?;

    let tax = TaxAmount::new()
        .currency("EUR")
        .minor_units("1900")
        .scale(2);
    let line = RawJson::from(json!({"description": "Workshop"}));
    let draft = InvoiceDraftCreate::new(server.sample_counterparty(), tax, [line]);
    let receipt = accounting.invoice_drafts().create(&draft).await?;

    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(lane("This SDK", &server, &sent, receipt.replayed))
}

/// Records the attempts of calls.
struct Attempts {
    server: Arc<ReferenceServer>,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Observer for Attempts {
    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        if ended.attempt.call.is_none() {
            return; // a token exchange
        }
        let now = Instant::now();
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.push(Sent {
            began: now - ended.duration(),
            ended: now,
            status: ended.status,
            commits: self.server.commits(Operation::CreateInvoiceDraft),
        });
    }
}
