//! Sends approved writes: the outbox's worker, with a check of digest, signature and expiry before each attempt.

use std::collections::BTreeMap;

use sdk_core::{App, PreparedCommand};
use sdk_outbox::{StoredCommand, Worker};

use super::approver::Approver;
use super::store::{Approvals, now};
use crate::catalog::{operations, with_client};
use crate::output::Failure;

/// The approver's own facts. The worker compares each command and the row of its proposal with them.
#[derive(Clone)]
struct Check {
    store: Approvals,
    client: String,
    key: String,
    origins: BTreeMap<String, String>,
}

/// Sends approved writes until the future completes, then waits for the writes in flight.
pub(crate) async fn deliver(
    approver: &Approver<'_>,
    until: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let mut check = Check {
        store: approver.store.clone(),
        client: approver.client.clone(),
        key: approver.key.clone(),
        origins: BTreeMap::new(),
    };
    let mut worker = Worker::new(approver.store.outbox.clone());
    let apps = App::all().filter(|app| !operations(*app).is_empty());
    for app in apps.filter(|app| approver.context.has(*app)) {
        worker = with_client!(app, &approver.suite, |client| {
            let origin = client.origin().to_owned();
            check.origins.insert(app.name().to_owned(), origin);
            worker.sender(client)
        });
    }
    let worker = worker.before_send(move |stored, command| {
        let check = check.clone();
        async move {
            let checked = check.check(&stored, &command);
            checked.map_err(|why| match (stored.first_sent, &stored.note) {
                (None, _) => why.to_owned(),
                // A person and the agent must know about the earlier attempt.
                (Some(_), note) => {
                    let note = note.as_deref().unwrap_or("no note");
                    format!("{why}; an earlier attempt may have been applied: {note}")
                }
            })
        }
    });
    Ok(worker.run(until).await?)
}

impl Check {
    fn check(&self, stored: &StoredCommand, command: &PreparedCommand) -> Result<(), &'static str> {
        let origin = self.origins.get(command.application());
        let origin = origin.ok_or("its application has no address")?;
        let digest = command.approval_digest(origin, &self.client);
        if stored.reference.as_ref() != Some(&digest) {
            return Err("its digest differs from the approved digest");
        }
        let proposal = self
            .store
            .find(&digest)
            .map_err(|_| "the store is not readable")?;
        let proposal = proposal.ok_or("its proposal is missing")?;
        if proposal.decision.as_deref() != Some("approved") {
            return Err("a person rejected it, or did not approve it");
        }
        let signature = proposal.signature.as_deref();
        let signature = signature.and_then(|it| <[u8; 32]>::try_from(it).ok());
        let signed = signed(&digest, proposal.expires);
        if !signature.is_some_and(|it| hmac_sha256::HMAC::verify(signed, &self.key, &it)) {
            return Err("the approval has no valid signature");
        }
        if proposal.expires < now() {
            return Err("the approval has expired");
        }
        Ok(())
    }
}

/// Signs a digest and the time at which its approval expires.
pub(crate) fn sign(key: &str, digest: &str, expires: i64) -> Vec<u8> {
    hmac_sha256::HMAC::mac(signed(digest, expires), key).to_vec()
}

fn signed(digest: &str, expires: i64) -> String {
    format!("suite-approval-signature/v1\n{digest}\n{expires}")
}
