//! The check of a proposal, and the facts that a person sees before the approval.

use sdk_core::{IdempotencyKey, PreparedCommand, Safety};
use serde_json::Value;

use super::access;
use super::approver::Approver;
use super::calls;
use super::store::{Progress, Proposal, Status, now};
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

impl Approver<'_> {
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
        if command.headers().next().is_some() {
            return Err(tampered("it has headers, which an agent can't set"));
        }
        let body = serde_json::from_str(command.body());
        let body: Value = body.map_err(|_| tampered("its body is not JSON"))?;
        entry.check_body(&body)?;
        let progress = self.store.progress(proposal).await?;
        let mut warnings = self.same_writes(&command, &origin).await?;
        if progress.status == Status::Parked {
            let warning = "it is parked; if the note does not say that it had no effect, look it up before you approve it again";
            warnings.push(warning.to_owned());
        }
        let (protection, is_protected) = access::registered_protection(&self.store)?;
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
        origin: &str,
    ) -> Result<Vec<String>, Failure> {
        let content = |it: &PreparedCommand| (it.path().to_owned(), it.body().to_owned());
        let digest = |it: &PreparedCommand| it.approval_digest(origin, &self.client);
        let mut warnings = Vec::new();
        for proposal in self.store.list()? {
            let other = serde_json::from_str::<PreparedCommand>(&proposal.command).ok();
            let is_same = |it: &PreparedCommand| content(it) == content(command);
            let other = other.filter(is_same).map(|it| digest(&it));
            if let Some(other) = other.filter(|it| *it != digest(command)) {
                let status = self.store.progress(&proposal).await?.status;
                warnings.push(format!(
                    "the same write was proposed before: {other} is {}",
                    status.as_str()
                ));
            }
        }
        Ok(warnings)
    }
}

impl Reviewed {
    /// Returns the facts in the order in which a person reads them, the agent's words last.
    fn facts(&self, approver: &Approver<'_>) -> Vec<(&'static str, String)> {
        let Self {
            command, proposal, ..
        } = self;
        let key = match command.idempotency_key().map(IdempotencyKey::as_str) {
            Some(key) => key.to_owned(),
            None if command.is_replayable() => {
                "none: an exact repetition returns the first result".to_owned()
            }
            None => "none: cannot be replayed, so a lost response parks it".to_owned(),
        };
        let (path, query) = command
            .path()
            .split_once('?')
            .unwrap_or((command.path(), ""));
        let operation = self.entry.operation;
        let mut facts = vec![
            ("installation", approver.context.name().to_owned()),
            ("origin", self.origin.clone()),
            ("clientId", approver.client.clone()),
            ("operation", format!("{operation}: {}", operation.summary)),
            ("method", command.method().to_owned()),
            ("path", path.to_owned()),
            ("query", query.to_owned()),
            ("body", command.body().to_owned()),
            ("key", key),
            ("status", self.progress.status.as_str().to_owned()),
            (
                "age",
                format!("{} s", now().saturating_sub(proposal.created).max(0) / 1000),
            ),
            ("digest", proposal.digest.clone()),
        ];
        let note = self.progress.note.as_ref();
        facts.extend(note.map(|it| ("note", it.clone())));
        facts.extend((!self.warnings.is_empty()).then(|| ("warnings", self.warnings.join("; "))));
        let intent = proposal.intent.as_ref();
        facts.extend(intent.map(|it| ("agentSays", it.clone())));
        facts
    }

    /// Returns the facts as lines that fit on a terminal with 80 columns. A long value continues behind a bar. Otherwise,
    /// the terminal would wrap it, and an agent could write wrapped lines that look like facts.
    pub(crate) fn lines(&self, approver: &Approver<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, value) in self.facts(approver) {
            let (mut line, mut width) = (format!("{name:<13} "), 0);
            for letter in value.chars() {
                let shown = shown(letter);
                // Some letters are two columns wide.
                let columns = if shown.is_ascii() { shown.len() } else { 2 };
                if width + columns > 64 {
                    lines.push(std::mem::replace(&mut line, format!("{:>13} ", '|')));
                    width = 0;
                }
                line += &shown;
                width += columns;
            }
            lines.push(line);
        }
        lines
    }

    pub(crate) fn json(&self, approver: &Approver<'_>) -> Value {
        let facts = self.facts(approver).into_iter();
        let facts = facts.map(|(name, value)| (name.to_owned(), value.into()));
        facts.collect::<serde_json::Map<_, _>>().into()
    }
}

/// Returns a character as a person can see it. Letters and ASCII are unchanged, and everything else is escaped.
fn shown(letter: char) -> String {
    let is_visible = letter.is_ascii_graphic() || letter == ' ' || letter.is_alphanumeric();
    let text = letter.to_string();
    if is_visible && !output::is_hidden(letter) {
        return text;
    }
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
    units.collect::<Vec<_>>().concat()
}
