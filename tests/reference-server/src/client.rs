//! Clients of the suite and their rights.

use std::fmt;

use serde::Deserialize;

use crate::app::App;

/// A client: its credentials and its rights.
///
/// A new client has every documented scope, every entitlement and a workspace binding. Remove the rights that your test
/// needs to be missing.
///
/// ```
/// use sdk_reference_server::{App, ClientSpec};
///
/// let reader = ClientSpec::new("reader", "s3cret")
///     .scopes(["crm:people:read"])
///     .apps([App::Crm]);
/// ```
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientSpec {
    pub(crate) id: String,
    pub(crate) secret: String,
    /// `None` grants every scope that the server knows.
    scopes: Option<Vec<String>>,
    #[serde(skip)]
    removed: Vec<String>,
    /// `None` grants every application.
    apps: Option<Vec<App>>,
    workspace: Option<bool>,
    #[serde(rename = "actingFor")]
    pub(crate) actor: Option<String>,
}

impl ClientSpec {
    /// Creates a client with all rights.
    #[must_use]
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> ClientSpec {
        ClientSpec {
            id: id.into(),
            secret: secret.into(),
            scopes: None,
            removed: Vec::new(),
            apps: None,
            workspace: None,
            actor: None,
        }
    }

    /// Restricts the client to these scopes.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> ClientSpec {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self.removed.clear();
        self
    }

    /// Removes this scope.
    #[must_use]
    pub fn without_scope(mut self, scope: &str) -> ClientSpec {
        self.removed.push(scope.to_owned());
        self
    }

    /// Returns the client's scopes on a server that knows `known`, or rejects the first invalid field.
    pub(crate) fn granted(&self, known: &[&str]) -> Result<Vec<String>, String> {
        for (member, value) in [("id", &self.id), ("secret", &self.secret)] {
            if value.is_empty() {
                return Err(format!("{member}: must not be empty"));
            }
        }
        let all = || known.iter().map(|&scope| scope.to_owned()).collect();
        let mut scopes = self.scopes.clone().unwrap_or_else(all);
        let unknown = |scope: &String| !known.contains(&scope.as_str());
        if let Some(place) = scopes.iter().position(unknown) {
            let scope = &scopes[place];
            return Err(format!("scopes[{place}]: no operation needs {scope:?}"));
        }
        scopes.retain(|scope| !self.removed.contains(scope));
        Ok(scopes)
    }

    /// Restricts the entitlements to these applications.
    #[must_use]
    pub fn apps(mut self, apps: impl IntoIterator<Item = App>) -> ClientSpec {
        self.apps = Some(apps.into_iter().collect());
        self
    }

    /// Removes the workspace binding.
    #[must_use]
    pub fn without_workspace(mut self) -> ClientSpec {
        self.workspace = Some(false);
        self
    }

    /// Acts for the actor with this reference instead of the client's own actor. Idempotency keys and `owner=mine`
    /// belong to the actor.
    #[must_use]
    pub fn acting_for(mut self, actor_reference: impl Into<String>) -> ClientSpec {
        self.actor = Some(actor_reference.into());
        self
    }
}

impl ClientSpec {
    pub(crate) fn entitlements(&self) -> Vec<String> {
        let apps = self.apps.as_deref().unwrap_or(App::ALL);
        apps.iter().map(|app| app.id().to_owned()).collect()
    }

    pub(crate) fn has_workspace(&self) -> bool {
        self.workspace.unwrap_or(true)
    }
}

impl fmt::Debug for ClientSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSpec")
            .field("id", &self.id)
            .field("scopes", &self.scopes)
            .field("removed", &self.removed)
            .field("apps", &self.apps)
            .field("workspace", &self.workspace)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}
