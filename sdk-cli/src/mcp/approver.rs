//! The approver's side of the store.

use sdk_core::{App, Suite};

use super::access::{self, APPROVER, Access};
use super::store::{Approvals, Proposal};
use crate::context::Context;
use crate::output::{Exit, Failure, note_always};

/// The variable with the approver's secret, which the agent's process must not have.
pub(crate) const APPROVAL_SECRET: &str = "SUITE_APPROVAL_SECRET";

/// The approver's credential, secret and store.
pub(crate) struct Approver<'a> {
    pub(crate) context: &'a Context,
    pub(crate) store: Approvals,
    pub(crate) suite: Suite,
    pub(crate) client: String,
    /// The key of the signatures: the approval secret, or the client secret, which the agent lacks if it has another
    /// credential.
    pub(crate) key: String,
    has_secret: bool,
}

impl<'a> Approver<'a> {
    pub(crate) fn new(context: &'a Context, store: Approvals) -> Result<Self, Failure> {
        let secret = context.secret(APPROVAL_SECRET)?;
        let shared = context.variables().get("SUITE_CLIENT_SECRET");
        let shared = shared.map(|it| it.trim());
        if secret
            .as_ref()
            .is_some_and(|it| it.trim().len() < 16 || Some(it.trim()) == shared)
        {
            let rule = "must have at least 16 bytes and differ from the client secret";
            return Err(Failure::setup(format!("{APPROVAL_SECRET} {rule}")));
        }
        let variable = |name: &str| context.variables().get(name).cloned().unwrap_or_default();
        Ok(Self {
            context,
            store,
            suite: context.suite()?,
            client: variable("SUITE_CLIENT_ID"),
            has_secret: secret.is_some(),
            key: secret.unwrap_or_else(|| variable("SUITE_CLIENT_SECRET")),
        })
    }

    /// Fails if this process would sign without the secret that the approver of the store has.
    pub(crate) fn check_secret(&self) -> Result<(), Failure> {
        let known = access::registered(&self.store, APPROVER)?;
        if known.is_some_and(|(_, it)| it.has_secret) && !self.has_secret {
            let rule = "is not set, but the approver of this store has a secret";
            let message = format!("{APPROVAL_SECRET} {rule}");
            return Err(Failure::setup(message));
        }
        Ok(())
    }

    /// Records the approver's client ID, scopes and command types, by which the agent's process offers writes.
    pub(crate) async fn register(&self) -> Result<Access, Failure> {
        let apps: Vec<App> = App::all().collect();
        let access = Access::of(self.context, &self.suite, &apps).await?;
        let mut access = access.with_types(&self.suite).await;
        access.note_problems();
        access.has_secret = self.has_secret;
        // A temporary failure must not withdraw the tools that the agent has.
        let known = access::registered(&self.store, APPROVER)?;
        let own = known.filter(|(client, _)| *client == self.client);
        let stored = match own {
            Some((_, known)) => access.clone().with_known(&known),
            None => access.clone(),
        };
        access::register(&self.store, APPROVER, &self.client, &stored)?;
        Ok(access)
    }

    /// Warns if approvals are not protected.
    pub(crate) fn warn(&self) -> Result<(), Failure> {
        let (protection, is_protected) = access::registered_protection(&self.store)?;
        if !is_protected {
            note_always(format_args!(
                "warning: protection of approvals: {protection}"
            ));
        }
        Ok(())
    }

    /// Finds a proposal by the first digits of its digest.
    pub(crate) fn find(&self, digits: &str) -> Result<Proposal, Failure> {
        let mut all = self.store.list()?;
        all.retain(|it| !digits.is_empty() && it.digest.starts_with(digits));
        let problem = match all.len() {
            1 => return Ok(all.remove(0)),
            0 => "no proposal has",
            _ => "several proposals have",
        };
        let message = format!("{problem} a digest that begins with {digits}");
        Err(Failure::new(Exit::Failed, "not_found", message))
    }
}
