//! Clients of the suite, and their rights.

use std::fmt;

use crate::app::App;
use crate::generated::operations::Operation;

/// A client: its credentials and its rights.
///
/// A new one has every documented scope, every entitlement and the workspace binding; remove what a test is about.
///
/// ```
/// use sdk_reference_server::{App, ClientSpec};
///
/// let reader = ClientSpec::new("reader", "s3cret")
///     .scopes(["crm:people:read"])
///     .apps([App::Crm]);
/// ```
#[derive(Clone)]
pub struct ClientSpec {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) apps: Vec<App>,
    pub(crate) workspace: bool,
    pub(crate) actor: Option<String>,
    /// Those that it shall not have, of all; `None` if it has certain ones.
    removed: Option<Vec<String>>,
}

impl ClientSpec {
    /// A client with all rights.
    #[must_use]
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> ClientSpec {
        ClientSpec {
            id: id.into(),
            secret: secret.into(),
            scopes: all_scopes(),
            apps: App::ALL.to_vec(),
            workspace: true,
            actor: None,
            removed: Some(Vec::new()),
        }
    }

    /// Restricts the client to these scopes.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> ClientSpec {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self.removed = None;
        self
    }

    /// Removes this scope.
    #[must_use]
    pub fn without_scope(mut self, scope: &str) -> ClientSpec {
        self.scopes.retain(|held| held != scope);
        self.removed
            .as_mut()
            .into_iter()
            .for_each(|removed| removed.push(scope.to_owned()));
        self
    }

    /// Names the first member with a value that no client has.
    pub(crate) fn check(&self, known: impl Fn(&str) -> bool) -> Result<(), String> {
        for (member, value) in [("id", &self.id), ("secret", &self.secret)] {
            if value.is_empty() {
                return Err(format!("{member}: must not be empty"));
            }
        }
        let mut scopes = self.scopes.iter().enumerate();
        match scopes.find(|(_, scope)| !known(scope)) {
            Some((place, scope)) => Err(format!("scopes[{place}]: no operation needs {scope:?}")),
            None => Ok(()),
        }
    }

    /// With the scopes that only some server knows too, if it has all.
    pub(crate) fn widened<'s>(mut self, scopes: impl Iterator<Item = &'s str>) -> ClientSpec {
        for scope in scopes {
            let wanted = self
                .removed
                .as_ref()
                .is_some_and(|not| !not.iter().any(|one| one == scope));
            if wanted && !self.scopes.iter().any(|held| held == scope) {
                self.scopes.push(scope.to_owned());
            }
        }
        self
    }

    /// Restricts the entitlements to these applications.
    #[must_use]
    pub fn apps(mut self, apps: impl IntoIterator<Item = App>) -> ClientSpec {
        self.apps = apps.into_iter().collect();
        self
    }

    /// Removes the workspace binding.
    #[must_use]
    pub fn without_workspace(mut self) -> ClientSpec {
        self.workspace = false;
        self
    }

    /// Acts for the actor with this reference instead of its own: idempotency keys and `owner=mine` are scoped to
    /// the actor.
    #[must_use]
    pub fn acting_for(mut self, actor_reference: impl Into<String>) -> ClientSpec {
        self.actor = Some(actor_reference.into());
        self
    }
}

impl fmt::Debug for ClientSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSpec")
            .field("id", &self.id)
            .field("scopes", &self.scopes)
            .field("apps", &self.apps)
            .field("workspace", &self.workspace)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

/// Every scope that an operation names.
fn all_scopes() -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in Operation::ALL.into_iter().flat_map(Operation::scopes) {
        if !scopes.iter().any(|known| known == scope) {
            scopes.push((*scope).to_owned());
        }
    }
    scopes
}
