//! `suite mcp approvals`: a person reviews, approves and rejects proposed writes.

use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use sdk_core::PreparedCommand;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::access::Access;
use super::approver::Approver;
use super::deliver::{deliver, sign};
use super::review::Reviewed;
use super::store::{Approval, Approvals, Status, length, now};
use crate::call::{confirm, is_at_terminal};
use crate::catalog::with_client;
use crate::context::Context;
use crate::output::{self, Exit, Failure, Format, note, note_always};
use crate::stop::Stop;
use crate::table;

/// How long `approve` waits for the result.
const PATIENCE: Duration = Duration::from_secs(60);
/// The lifetime of an approval.
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Subcommand)]
pub(crate) enum Action {
    /// List the proposals, the oldest first. The exit status is 4 if a proposal waits for a person
    List,
    /// Show a proposal with the exact request
    Show {
        /// The digest, or its first digits
        digest: String,
    },
    /// Approve a proposal or a parked write, send all approved writes, and print the result of this write
    Approve {
        /// The digest, with all 64 digits. On a terminal, its first digits suffice
        digest: String,
        /// The name of the person [default: the variable USER]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Reject a proposal, even if it is approved or parked, so that it is not sent again
    Reject {
        /// The digest, or its first digits
        digest: String,
        /// The name of the person [default: the variable USER]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Register as the approver, and send approved writes until Ctrl-C or SIGTERM
    Run,
}

pub(crate) async fn run(
    context: &Context,
    store: Approvals,
    action: Action,
) -> Result<ExitCode, Failure> {
    let approver = Approver::new(context, store)?;
    match action {
        Action::List => approver.list().await,
        Action::Show { digest } => {
            let reviewed = approver.review(&approver.find(&digest)?).await?;
            match context.format() {
                Format::Table => reviewed.lines(&approver).iter().for_each(output::put),
                _ => output::put(output::shown(&reviewed.json(&approver).to_string())),
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Approve { digest, by } => approver.approve(&digest, &person(by)).await,
        Action::Reject { digest, by } => approver.reject(&digest, &person(by)).await,
        Action::Run => approver.send().await,
    }
}

impl Approver<'_> {
    async fn list(&self) -> Result<ExitCode, Failure> {
        let (mut rows, mut waits) = (Vec::new(), false);
        for proposal in self.store.list()? {
            let progress = self.store.progress(&proposal).await?;
            waits |= matches!(progress.status, Status::Pending | Status::Parked);
            let command: Option<PreparedCommand> = serde_json::from_str(&proposal.command).ok();
            let operation = command.map(|it| format!("{}.{}", it.application(), it.operation()));
            let is_table = self.context.format() == Format::Table;
            let digits = if is_table { 16 } else { usize::MAX };
            let digest: String = proposal.digest.chars().take(digits).collect();
            rows.push(json!({
                "digest": digest, "status": progress.status.as_str(), "operation": operation,
                "ageSeconds": now().saturating_sub(proposal.created).max(0) / 1000, "by": proposal.decided_by, "note": progress.note,
            }));
        }
        let columns = ["digest", "status", "operation", "ageSeconds", "note"];
        table::print_rows(&rows, &columns, self.context.format());
        self.warn()?;
        Ok(if waits {
            ExitCode::from(Exit::Person as u8)
        } else {
            ExitCode::SUCCESS
        })
    }

    async fn approve(&self, digits: &str, by: &str) -> Result<ExitCode, Failure> {
        let at_terminal = is_at_terminal();
        if !at_terminal && digits.len() != 64 {
            return Err(Failure::usage(
                "without a terminal, an approval needs all 64 digits of the digest",
            ));
        }
        self.check_secret()?;
        let reviewed = self.review(&self.find(digits)?).await?;
        let status = reviewed.progress.status;
        if !matches!(status, Status::Pending | Status::Parked) {
            return Err(not_pending(status, "approved"));
        }
        let Reviewed {
            command,
            entry,
            proposal,
            ..
        } = &reviewed;
        let app = entry.operation.application;
        // Without a token, the scopes are unknown, and the credential may be wrong.
        with_client!(app, &self.suite, |client| client.prewarm().await?);
        let access = Access::of(self.context, &self.suite, &[app]).await?;
        let access = access.with_types(&self.suite).await;
        let body: Value = serde_json::from_str(command.body()).unwrap_or_default();
        let denied = |message: String| Failure::new(Exit::Setup, "permission_denied", message);
        if let Some(why) = access.denial(entry, true) {
            let scopes = entry.operation.scopes.join(" or ");
            access.note_problems();
            return Err(denied(format!(
                "the approver's credential can't send it, because {why} ({scopes})"
            )));
        }
        let checked = access.check_type(entry, &body);
        checked.map_err(|failure| denied(failure.to_string()))?;
        reviewed.lines(self).iter().for_each(note_always);
        if at_terminal {
            confirm("Approve and send it?")?;
        }
        let digest = &proposal.digest;
        let parked = proposal.outbox_id.filter(|_| status == Status::Parked);
        let expires = now() + length(HOUR);
        let approval = Approval {
            by,
            signature: sign(&self.key, digest, expires),
            expires,
            parked,
        };
        let label = self.context.installation().unwrap_or_default();
        if !self.store.approve(digest, command, label, &approval)? {
            // Another person decided first, or the proposal expired.
            let status = self.store.progress(&self.find(digest)?).await?.status;
            return Err(not_pending(status, "approved now"));
        }
        // The write is approved, so this can't fail any more. The entry is parked and no longer linked.
        if let Some(id) = parked
            && let Err(error) = self.store.outbox.drop(id, by, "approved again").await
        {
            note(error);
        }
        note("Approved. Sending it.");
        self.send_until_settled(digest).await
    }

    /// Sends all approved writes until this write is done or needs a person, and prints its result.
    async fn send_until_settled(&self, digest: &str) -> Result<ExitCode, Failure> {
        let is_approved = async || {
            let proposal = self.find(digest)?;
            let progress = self.store.progress(&proposal).await?;
            Ok::<_, Failure>(progress.status == Status::Approved)
        };
        let settled = async {
            while let Ok(true) = is_approved().await {
                sleep(Duration::from_millis(100)).await;
            }
        };
        let mut stop = Stop::listen()?;
        deliver(self, async {
            let _ = stop.or(timeout(PATIENCE, settled)).await;
        })
        .await?;
        let proposal = self.find(digest)?;
        let progress = self.store.progress(&proposal).await?;
        let detail = progress.note.unwrap_or_default();
        match progress.status {
            Status::Done => {
                let status = proposal.http_status.unwrap_or_default();
                let is_replay = proposal.replayed == Some(true);
                let replay = if is_replay {
                    ", the result of an earlier attempt"
                } else {
                    ""
                };
                note(format_args!("Applied: status {status}{replay}."));
                let result = proposal.result.unwrap_or_default();
                match result.parse() {
                    Ok(result) => table::print_value(&result, self.context.format()),
                    Err(_) => output::put(output::escaped(&result)),
                }
                Ok(ExitCode::SUCCESS)
            }
            Status::Approved => {
                let message = if detail.is_empty() {
                    "its result is not known yet".to_owned()
                } else {
                    format!("its result is not known yet: {detail}")
                };
                let hint = "`suite mcp approvals run` continues to send it";
                Err(Failure::new(Exit::Later, "approved", message).with_hint(hint))
            }
            status => {
                let message = format!("the write is {}: {detail}", status.as_str());
                Err(Failure::new(Exit::Person, status.as_str(), message))
            }
        }
    }

    /// Sends approved writes until Ctrl-C or SIGTERM, and registers every hour.
    async fn send(&self) -> Result<ExitCode, Failure> {
        self.check_secret()?;
        let access = self.register().await?;
        if let Some(failure) = access.failure() {
            return Err(failure);
        }
        let mut next = access.valid_for();
        self.warn()?;
        let mut stop = Stop::listen()?;
        note("Sending approved writes. Press Ctrl-C to stop after the writes in flight.");
        let register = async {
            loop {
                if let Err(failure) = self.store.purge().await {
                    note(failure);
                }
                sleep(next).await;
                match self.register().await {
                    Ok(access) => next = access.valid_for(),
                    Err(failure) => note(failure),
                }
            }
        };
        tokio::select! {
            delivered = deliver(self, stop.heard()) => delivered?,
            () = register => {}
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn reject(&self, digits: &str, by: &str) -> Result<ExitCode, Failure> {
        let proposal = self.find(digits)?;
        let progress = self.store.progress(&proposal).await?;
        if !self.store.reject(&proposal.digest, by)? {
            return Err(not_pending(progress.status, "rejected"));
        }
        if let (Some(id), Status::Parked) = (proposal.outbox_id, progress.status) {
            // The agent needs the note, because the write may have been applied.
            let why = format!("rejected; {}", progress.note.unwrap_or_default());
            self.store.outbox.drop(id, by, &why).await?;
        }
        note(if progress.status == Status::Approved {
            "Rejected. An attempt in flight may still be applied."
        } else {
            "Rejected. It will not be sent again."
        });
        self.warn()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn not_pending(status: Status, decision: &str) -> Failure {
    let message = format!(
        "the proposal is {}, so it can't be {decision}",
        status.as_str()
    );
    let failure = Failure::new(Exit::Failed, "not_pending", message);
    match status {
        Status::Approved => failure.with_hint("`suite mcp approvals run` sends approved writes"),
        _ => failure,
    }
}

fn person(by: Option<String>) -> String {
    by.or_else(|| std::env::var("USER").ok())
        .unwrap_or_else(|| "unknown".to_owned())
}
