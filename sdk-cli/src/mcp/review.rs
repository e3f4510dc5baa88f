//! The check of a proposal, and the facts that a person sees before the approval.

use sdk_core::{IdempotencyKey, PreparedCommand, Safety};
use serde_json::Value;

use super::access;
use super::calls;
use super::desk::Desk;
use super::store::{Progress, Proposal, now};
use crate::catalog::{self, Entry, with_client};
use crate::output::{self, Exit, Failure};

/// A proposal whose command has been checked: the digest and the key belong to it.
pub(crate) struct Reviewed {
    pub(crate) proposal: Proposal,
    pub(crate) progress: Progress,
    pub(crate) command: PreparedCommand,
    pub(crate) entry: Entry,
    origin: String,
    warnings: Vec<String>,
}

impl Desk<'_> {
    /// Checks a proposal. Nothing in the row is trusted.
    pub(crate) async fn review(&self, proposal: &Proposal) -> Result<Reviewed, Failure> {
        let tampered = |why: &str| {
            let message = format!("proposal {} can't be approved: {why}", proposal.digest);
            Failure::new(Exit::Failed, "changed", message)
        };
        let command: PreparedCommand = serde_json::from_str(&proposal.command)
            .map_err(|_| tampered("its command is not the stored form of a command"))?;
        command
            .verify()
            .map_err(|error| tampered(error.message()))?;
        let named = |it: &Entry| {
            let it = it.operation;
            it.id == command.operation() && it.application.name() == command.application()
        };
        let entry = catalog::all().filter(Entry::is_write).find(named);
        let entry = entry.ok_or_else(|| tampered("it is not a write of the contract"))?;
        let app = entry.operation.application;
        let origin = with_client!(app, &self.suite, |client| client.origin().to_owned());
        if command.approval_digest(&origin, &self.client) != proposal.digest {
            return Err(tampered(
                "its digest differs: it was changed, or it belongs to another origin or client ID",
            ));
        }
        if entry.operation.safety == Safety::Keyed {
            let key = calls::key(&command, &origin, &self.client, proposal.intent.as_deref());
            if command.idempotency_key() != Some(&key) {
                return Err(tampered("its key doesn't belong to its content and intent"));
            }
        } else if command.idempotency_key().is_some() || proposal.intent.is_some() {
            return Err(tampered(
                "it has a key or an intent, which its operation doesn't take",
            ));
        }
        let progress = self.store.progress(proposal).await?;
        let mut warnings = self.same_writes(&command, &proposal.digest).await?;
        if progress.status == "parked" {
            let note = progress.note.clone().unwrap_or_default();
            warnings.push(format!("it is parked ({note}); if it may have been applied, look it up before you approve it again"));
        }
        let (protection, is_protected) = access::protection(&self.store)?;
        if !is_protected {
            warnings.push(format!("protection of approvals: {protection}"));
        }
        Ok(Reviewed {
            proposal: proposal.clone(),
            progress,
            command,
            entry,
            origin,
            warnings,
        })
    }

    /// Returns a warning for each other proposal of the same write.
    async fn same_writes(
        &self,
        command: &PreparedCommand,
        digest: &str,
    ) -> Result<Vec<String>, Failure> {
        let mut warnings = Vec::new();
        for other in self
            .store
            .list()?
            .into_iter()
            .filter(|it| it.digest != digest)
        {
            let Ok(stored) = serde_json::from_str::<PreparedCommand>(&other.command) else {
                continue;
            };
            let content =
                |it: &PreparedCommand| [it.operation(), it.path(), it.body()].map(str::to_owned);
            if content(&stored) == content(command) {
                let status = self.store.progress(&other).await?.status;
                warnings.push(format!(
                    "the same write was proposed before, as {}, which is {status}",
                    other.digest
                ));
            }
        }
        Ok(warnings)
    }
}

impl Reviewed {
    /// Returns the facts in the order in which a person reads them, the agent's words last.
    fn facts(&self, desk: &Desk<'_>) -> Vec<(&'static str, String)> {
        let Self {
            command, proposal, ..
        } = self;
        let key = match command.idempotency_key().map(IdempotencyKey::as_str) {
            Some(key) => key.to_owned(),
            None if command.is_replayable() => {
                "none: an exact repetition returns the first result".to_owned()
            }
            None => "none: cannot be replayed, so it is sent at most once".to_owned(),
        };
        let (path, query) = command
            .path()
            .split_once('?')
            .unwrap_or((command.path(), ""));
        let mut facts = vec![
            ("installation", desk.context.name().to_owned()),
            ("origin", self.origin.clone()),
            ("clientId", desk.client.clone()),
            (
                "operation",
                format!("{}: {}", self.entry.name(), self.entry.operation.summary),
            ),
            ("method", command.method().to_owned()),
            ("path", path.to_owned()),
            ("query", query.to_owned()),
        ];
        let headers: Vec<_> = command
            .headers()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        facts.extend((!headers.is_empty()).then(|| ("headers", headers.join(", "))));
        facts.extend([
            ("body", command.body().to_owned()),
            ("key", key),
            ("status", self.progress.status.to_owned()),
            ("age", format!("{} s", (now() - proposal.created) / 1000)),
            ("digest", proposal.digest.clone()),
        ]);
        facts.extend((!self.warnings.is_empty()).then(|| ("warnings", self.warnings.join("; "))));
        let intent = proposal.intent.as_ref();
        facts.extend(intent.map(|it| ("agentSays", it.clone())));
        facts
    }

    pub(crate) fn lines(&self, desk: &Desk<'_>) -> Vec<String> {
        let facts = self.facts(desk).into_iter();
        // An agent could otherwise write lines that look like facts.
        let line = |(name, value): (&str, String)| {
            let value = output::escaped(&value)
                .replace('\n', "\\u000a")
                .replace('\t', "\\u0009");
            format!("{name:<13} {value}")
        };
        facts.map(line).collect()
    }

    pub(crate) fn json(&self, desk: &Desk<'_>) -> Value {
        let facts = self.facts(desk).into_iter();
        let facts = facts.map(|(name, value)| (name.to_owned(), output::escaped(&value).into()));
        facts.collect::<serde_json::Map<_, _>>().into()
    }
}
