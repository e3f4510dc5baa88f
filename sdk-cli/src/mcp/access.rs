//! The operations that a credential's scopes permit, and the protection of the right to approve.
//!
//! Everything fails closed: without known scopes, an operation that needs one is not permitted.

use std::collections::{BTreeMap, BTreeSet};

use sdk_core::{App, Error, Suite, TokenError, TokenErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinSet;

use super::store::Approvals;
use crate::catalog::{self, Entry, with_client};
use crate::context::Context;
use crate::output::{Failure, note};

pub(crate) const AGENT: &str = "agent";
pub(crate) const APPROVER: &str = "approver";

/// The ID of the operation with a type in its body, which decides on the required scope.
pub(crate) const TYPED: &str = "submitCommand";
/// The field of its body with the type (assumption A77).
pub(crate) const TYPE: &str = "commandType";

/// The permissions of a credential, as its user registers them in the store.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Access {
    /// The base URL of each application with an address, and the granted scopes if the token endpoint lists them.
    apps: BTreeMap<String, (String, Option<Vec<String>>)>,
    /// The command types that the presentation offers to this caller.
    types: BTreeSet<String>,
    /// Whether the approver signs approvals with a secret.
    pub(crate) has_secret: bool,
}

impl Access {
    /// Gets the scopes of these applications from their tokens, which the suite caches. If no token is available, no scope
    /// is known.
    pub(crate) async fn of(context: &Context, suite: &Suite, apps: &[App]) -> Result<Self, Error> {
        let mut tasks = JoinSet::new();
        let mut access = Self::default();
        for app in apps.iter().copied().filter(|it| context.has(*it)) {
            with_client!(app, suite, |client| {
                let origin = client.origin().to_owned();
                access.apps.insert(app.name().to_owned(), (origin, None));
                tasks.spawn(
                    async move { (app, client.missing_scopes(catalog::operations(app)).await) },
                );
            });
        }
        while let Some(Ok((app, found))) = tasks.join_next().await {
            match found {
                Ok(missing) => {
                    if let Some((_, granted)) = access.apps.get_mut(app.name()) {
                        *granted = missing.granted;
                    }
                }
                Err(error) => {
                    // A credential that gets no token can't write, either.
                    if let Some((_, granted)) = access.apps.get_mut(app.name())
                        && is_rejected(&error)
                    {
                        *granted = Some(Vec::new());
                    }
                    note(format_args!("{app}: {error}"));
                }
            }
        }
        Ok(access)
    }

    /// Adds the command types that the presentation offers to this caller.
    pub(crate) async fn with_types(mut self, suite: &Suite) -> Result<Self, Error> {
        let presentation = catalog::all().find(|it| it.operation.id == "getPresentation");
        if let Some(entry) = presentation.filter(|it| self.permits(it, false)) {
            let crm = sdk_crm::Client::new(suite)?;
            let shown = crm.raw_call(entry.operation).send().await?.to_value()?;
            let actions = shown["actions"].as_array().into_iter().flatten();
            let types = actions.filter_map(|it| it[TYPE].as_str());
            self.types = types.map(str::to_owned).collect();
        }
        Ok(self)
    }

    /// Whether the scopes are known to suffice. `undocumented` also permits operations whose scope is undocumented.
    pub(crate) fn permits(&self, entry: &Entry, undocumented: bool) -> bool {
        let operation = entry.operation;
        let Some((_, granted)) = self.apps.get(operation.application.name()) else {
            return false;
        };
        match (operation.authenticated, operation.scopes, granted) {
            _ if operation.id == TYPED && self.types.is_empty() => false,
            (false, ..) => true,
            (true, [], _) => undocumented,
            (true, scopes, Some(granted)) => scopes
                .iter()
                .any(|scope| granted.iter().any(|it| it == scope)),
            (true, _, None) => false,
        }
    }

    /// Returns the command types that the operation's caller may send, if its body has a type.
    pub(crate) fn types(&self, entry: &Entry) -> Option<&BTreeSet<String>> {
        (entry.operation.id == TYPED).then_some(&self.types)
    }

    /// Checks the type in the body of a command.
    pub(crate) fn check_type(&self, entry: &Entry, body: &Value) -> Result<(), Failure> {
        let Some(types) = self.types(entry) else {
            return Ok(());
        };
        let found = body[TYPE].as_str().unwrap_or_default();
        if types.contains(found) {
            return Ok(());
        }
        let all: Vec<_> = types.iter().map(String::as_str).collect();
        let found = sdk_core::one_line(found);
        let rule = format!("body.{TYPE} must be one of {}: got {found}", all.join(", "));
        Err(Failure::usage(rule))
    }

    /// Returns the base URL to which an application's commands go.
    pub(crate) fn origin(&self, app: &str) -> Option<&str> {
        self.apps.get(app).map(|(origin, _)| origin.as_str())
    }

    /// Returns why the credential may be able to write, if it isn't known to permit only reads.
    fn may_write(&self) -> Option<String> {
        // The types of commands don't matter here, only the scopes.
        let all_types = Self {
            types: BTreeSet::from([String::new()]),
            ..self.clone()
        };
        let writes = |it: &Entry| it.is_write() && all_types.permits(it, false);
        if let Some(entry) = catalog::all().find(writes) {
            return Some(format!("the agent's credential permits {}", entry.name()));
        }
        let mut unknown = self
            .apps
            .iter()
            .filter(|(_, (_, granted))| granted.is_none());
        let (app, _) = unknown.next()?;
        Some(format!(
            "the token endpoint doesn't list the agent's scopes for {app}"
        ))
    }
}

/// Whether the token endpoint rejected the credential for the application.
fn is_rejected(error: &Error) -> bool {
    let cause = std::error::Error::source(error);
    let token = cause.and_then(|it| it.downcast_ref::<TokenError>());
    token.is_some_and(|it| it.kind() == TokenErrorKind::Refused)
}

/// Returns the client ID and the permissions of the agent or the approver, if it has registered.
pub(crate) fn registered(
    store: &Approvals,
    role: &str,
) -> Result<Option<(String, Access)>, Failure> {
    let party = store.party(role)?;
    Ok(party.and_then(|(client, facts)| Some((client, serde_json::from_str(&facts).ok()?))))
}

pub(crate) fn register(
    store: &Approvals,
    role: &str,
    client: &str,
    access: &Access,
) -> Result<(), Failure> {
    let facts = serde_json::to_string(access).map_err(std::io::Error::from)?;
    store.register(role, client, &facts)
}

/// Returns how the right to approve is protected, as both users registered it, and whether it is protected at all.
pub(crate) fn protection(store: &Approvals) -> Result<(String, bool), Failure> {
    let (agent, approver) = (registered(store, AGENT)?, registered(store, APPROVER)?);
    let has_secret = approver.as_ref().is_some_and(|(_, it)| it.has_secret);
    let problem = match (agent, approver) {
        (Some((agent, _)), Some((approver, _))) if agent == approver => {
            Some("the agent has the approver's credential".to_owned())
        }
        (Some((_, access)), Some(_)) => access.may_write(),
        (None, _) => Some("no agent has used the store yet".to_owned()),
        (_, None) => Some("no approver has used the store yet".to_owned()),
    };
    Ok(match (problem, has_secret) {
        (None, true) => ("two credentials and an approval secret".to_owned(), true),
        (None, false) => ("two credentials".to_owned(), true),
        (Some(_), true) => ("an approval secret".to_owned(), true),
        (Some(problem), false) => (
            format!("none, because {problem}; use two credentials or SUITE_APPROVAL_SECRET"),
            false,
        ),
    })
}
