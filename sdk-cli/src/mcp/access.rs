//! The operations that a credential's scopes permit, and the protection of the right to approve.
//!
//! Everything fails closed: without known scopes, an operation that needs one is not permitted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sdk_core::{App, Error, Suite, TokenError, TokenErrorKind, one_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::store::Approvals;
use crate::catalog::{self, Entry, with_client};
use crate::context::Context;
use crate::output::{Exit, Failure, note};

pub(crate) const AGENT: &str = "agent";
pub(crate) const APPROVER: &str = "approver";

/// How long the program waits for a token. Many clients give up on a start or a list after 30 seconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The ID of the operation whose body has a type. The type determines the required scope.
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
    /// The reasons why a token or the presentation was not available.
    #[serde(skip)]
    pub(crate) problems: Vec<String>,
    /// The applications whose token or presentation may be available later.
    #[serde(skip)]
    unavailable: BTreeSet<&'static str>,
    #[serde(skip)]
    has_token: bool,
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
                tasks.spawn(async move {
                    let missing = client.missing_scopes(catalog::operations(app));
                    (app, timeout(PATIENCE, missing).await)
                });
            });
        }
        while let Some(Ok((app, found))) = tasks.join_next().await {
            let problem = match (found, access.apps.get_mut(app.name())) {
                (Ok(Ok(missing)), Some((_, granted))) => {
                    *granted = missing.granted;
                    access.has_token = true;
                    continue;
                }
                (Ok(Err(error)), _) => {
                    if token_error(&error).is_none_or(|it| it.kind() != TokenErrorKind::Refused) {
                        access.unavailable.insert(app.name());
                    }
                    error.to_string()
                }
                _ => {
                    access.unavailable.insert(app.name());
                    format!("no token within {PATIENCE:?}")
                }
            };
            access.problems.push(format!("{app}: {problem}"));
        }
        Ok(access)
    }

    /// Asks the token endpoint for each write scope of an application whose scopes are unknown. If it rejects all of them,
    /// the credential has none of them. An endpoint that also rejects a granted scope proves nothing.
    pub(crate) async fn with_probes(mut self, suite: &Suite) -> Result<Self, Error> {
        let granted = |app: App| Some((app, self.apps.get(app.name())?.1.as_ref()?.first()?));
        let Some((app, scope)) = App::all().find_map(granted) else {
            return Ok(self);
        };
        if probe(suite, app, scope).await?.is_some() || !self.problems.is_empty() {
            return Ok(self);
        }
        let unknown = |app: &App| matches!(self.apps.get(app.name()), Some((_, None)));
        for app in App::all().filter(unknown).collect::<Vec<_>>() {
            let writes =
                catalog::all().filter(|it| it.is_write() && it.operation.application == app);
            let scopes: BTreeSet<_> = writes.flat_map(|it| it.operation.scopes).collect();
            let mut are_rejected = true;
            for scope in scopes {
                let code = probe(suite, app, scope).await?;
                are_rejected &= code.as_deref() == Some("invalid_scope");
            }
            if let Some((_, granted)) = self.apps.get_mut(app.name()).filter(|_| are_rejected) {
                *granted = Some(Vec::new());
            }
        }
        Ok(self)
    }

    /// Adds the command types that the presentation offers to this caller. Without the presentation, there are none.
    pub(crate) async fn with_types(mut self, suite: &Suite) -> Self {
        if let Err(error) = self.add_types(suite).await {
            self.unavailable.insert(App::Crm.name());
            self.problems.push(error.to_string());
        }
        self
    }

    async fn add_types(&mut self, suite: &Suite) -> Result<(), Error> {
        let presentation = catalog::all().find(|it| it.operation.id == "getPresentation");
        if let Some(entry) = presentation.filter(|it| self.denial(it, false).is_none()) {
            let crm = sdk_crm::Client::new(suite)?;
            let shown = crm.raw_call(entry.operation).send().await?.to_value()?;
            let actions = shown["actions"].as_array().into_iter().flatten();
            // Other operations have types, too, with other scopes.
            let submit = catalog::all().find(|it| it.operation.id == TYPED);
            let scopes = submit.map_or(&[][..], |it| it.operation.scopes);
            let is_own = |it: &&Value| scopes.iter().any(|scope| it["requiredScope"] == *scope);
            let types = actions.filter(is_own).filter_map(|it| it[TYPE].as_str());
            self.types = types.map(str::to_owned).collect();
        }
        Ok(())
    }

    /// Takes over the known permissions for applications that are unavailable now.
    pub(crate) fn with_known(mut self, known: &Self) -> Self {
        for app in &self.unavailable {
            if let Some(access) = known.apps.get(*app) {
                self.apps.insert((*app).to_owned(), access.clone());
            }
            if *app == App::Crm.name() {
                self.types.clone_from(&known.types);
            }
        }
        self
    }

    /// Returns a failure if no token is available for any application.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let problems = self.problems.join("; ");
        let failure = if self.unavailable.is_empty() {
            Failure::setup(problems)
        } else {
            Failure::new(Exit::Later, "token_unavailable", problems)
        };
        (!self.has_token).then_some(failure)
    }

    pub(crate) fn note_problems(&self) {
        self.problems.iter().for_each(note);
    }

    /// Returns the time after which the approver should register again.
    pub(crate) fn valid_for(&self) -> Duration {
        Duration::from_secs(if self.problems.is_empty() { 3600 } else { 60 })
    }

    /// Returns why the scopes aren't known to suffice. `undocumented` permits operations whose scope is undocumented.
    pub(crate) fn denial(&self, entry: &Entry, undocumented: bool) -> Option<&'static str> {
        let operation = entry.operation;
        let Some((_, granted)) = self.apps.get(operation.application.name()) else {
            return Some("its application has no URL");
        };
        if operation.id == TYPED && self.types.is_empty() {
            return Some("the presentation offers no command type, or is not available");
        }
        match (operation.authenticated, operation.scopes, granted) {
            (false, ..) => None,
            (true, [], _) => (!undocumented).then_some("its scope is undocumented"),
            (true, _, None) => Some("the granted scopes are unknown"),
            // One of the scopes is sufficient.
            (true, scopes, Some(granted)) => {
                let is_granted = scopes
                    .iter()
                    .any(|scope| granted.iter().any(|it| it == scope));
                (!is_granted).then_some("its scope is not granted")
            }
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
        let found = body[TYPE].as_str().unwrap_or("nothing");
        if types.contains(found) {
            return Ok(());
        }
        let all: Vec<_> = types.iter().map(String::as_str).collect();
        let found = one_line(found);
        let rule = format!("body.{TYPE} must be one of {}: got {found}", all.join(", "));
        Err(Failure::usage(rule))
    }

    /// Returns the base URL to which an application's commands go.
    pub(crate) fn origin(&self, app: &str) -> Option<&str> {
        self.apps.get(app).map(|(origin, _)| origin.as_str())
    }

    /// Returns why the credential may be able to write, if it isn't known to permit only documented reads.
    fn may_write(&self) -> Option<String> {
        let reads = catalog::all().filter(|it| !it.is_write());
        let reads: BTreeSet<&str> = reads.flat_map(|it| it.operation.scopes).copied().collect();
        let problem = |(app, (_, granted)): (&String, &(String, Option<Vec<String>>))| {
            let Some(granted) = granted else {
                return Some(format!("the agent's scopes for {app} are unknown"));
            };
            let other = granted.iter().find(|it| !reads.contains(it.as_str()))?;
            Some(format!("the agent has the scope {}", one_line(other)))
        };
        self.apps.iter().find_map(problem)
    }
}

/// Requests a token with only this scope, and returns the code of the failure.
async fn probe(suite: &Suite, app: App, scope: &str) -> Result<Option<String>, Error> {
    let narrowed = suite.with_scopes(app, [scope])?;
    let token = with_client!(app, &narrowed, |client| {
        timeout(PATIENCE, client.prewarm()).await
    });
    Ok(match token {
        Ok(Ok(())) => None,
        Ok(Err(error)) => {
            let code = token_error(&error).and_then(TokenError::code);
            Some(code.unwrap_or_default().to_owned())
        }
        Err(_) => Some("timeout".to_owned()),
    })
}

fn token_error(error: &Error) -> Option<&TokenError> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Returns the client ID and the permissions of the agent or the approver, if it has registered.
pub(crate) fn registered(store: &Approvals, role: &str) -> Result<Option<Party>, Failure> {
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

/// The permissions of an agent or an approver with this client ID.
pub(crate) type Party = (String, Access);

/// Returns how the right to approve is protected, and whether it is protected at all.
pub(crate) fn protection(agent: Option<&Party>, approver: Option<&Party>) -> (String, bool) {
    let has_secret = approver.is_some_and(|(_, it)| it.has_secret);
    let problem = match (agent, approver) {
        (Some((agent, _)), Some((approver, _))) if agent == approver => {
            Some("the agent has the approver's credential".to_owned())
        }
        (Some((_, access)), Some(_)) => access.may_write(),
        (None, _) => Some("no agent has used the store yet".to_owned()),
        (_, None) => Some("no approver has used the store yet".to_owned()),
    };
    match (problem, has_secret) {
        (None, true) => ("two credentials and an approval secret".to_owned(), true),
        (None, false) => ("two credentials".to_owned(), true),
        (Some(_), true) => ("an approval secret".to_owned(), true),
        (Some(problem), false) => (
            format!("none, because {problem}; use two credentials or SUITE_APPROVAL_SECRET"),
            false,
        ),
    }
}

/// Returns the protection of a store, by the agent and the approver that registered last.
pub(crate) fn registered_protection(store: &Approvals) -> Result<(String, bool), Failure> {
    let (agent, approver) = (registered(store, AGENT)?, registered(store, APPROVER)?);
    Ok(protection(agent.as_ref(), approver.as_ref()))
}
