//! Where settings come from, and which of them counts.

use std::collections::HashMap;
use std::fmt;

use crate::app::App;
use crate::secret::value::Secret;
use crate::suite::address;

/// Where a setting was made. Of several, the first of these counts, whatever the order of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// By a method of the builder.
    Code,
    /// Among variables that the program handed over itself.
    Variables,
    /// In the environment of the process.
    Environment,
}

/// A setting, and what its author calls it.
#[derive(Clone, Debug)]
pub(super) struct Setting<T> {
    pub(super) value: T,
    /// A variable, or a call of the builder.
    pub(super) name: String,
    pub(super) from: From,
}

/// What one source of settings says.
#[derive(Clone, Default)]
pub(super) struct Layer {
    urls: HashMap<App, String>,
    audiences: HashMap<App, String>,
    token_url: Option<String>,
    client_id: Option<String>,
    client_secret: Option<Secret>,
}

impl Layer {
    /// Takes variables by the names that [`Suite::from_env`](crate::Suite::from_env) lists. One that is empty counts as
    /// missing; all others are taken as given, to the last blank.
    pub(super) fn read(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        let mut variables: HashMap<String, String> = variables
            .into_iter()
            .filter(|(name, value)| name.starts_with("SUITE_") && !value.is_empty())
            .collect();
        for app in App::ALL {
            if let Some(url) = variables.remove(app.url_variable()) {
                self.urls.insert(app, url);
            }
            if let Some(audience) = variables.remove(app.audience_variable()) {
                self.audiences.insert(app, audience);
            }
        }
        let mut take = |name, slot: &mut Option<String>| {
            if let Some(value) = variables.remove(name) {
                *slot = Some(value);
            }
        };
        take(address::TOKEN_URL, &mut self.token_url);
        take(address::CLIENT_ID, &mut self.client_id);
        if let Some(secret) = variables.remove(address::CLIENT_SECRET) {
            self.client_secret = Some(secret.into());
        }
    }

    pub(super) fn set_url(&mut self, app: App, url: String) {
        self.urls.insert(app, url);
    }

    pub(super) fn set_audience(&mut self, app: App, audience: String) {
        self.audiences.insert(app, audience);
    }

    pub(super) fn set_token_url(&mut self, url: String) {
        self.token_url = Some(url);
    }
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer")
            .field("urls", &self.urls.keys())
            .field("audiences", &self.audiences.keys())
            .finish_non_exhaustive()
    }
}

/// Everything that was said, the most explicit source first.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    pub(super) code: Layer,
    pub(super) variables: Option<Layer>,
    pub(super) environment: Option<Layer>,
}

impl Layers {
    /// The setting that counts: what the code says, else the variables that it hands over, else the environment.
    fn first<'a, T>(
        &'a self,
        call: &str,
        variable: &str,
        of: impl Fn(&'a Layer) -> Option<T>,
    ) -> Option<Setting<T>> {
        let layers = [
            (From::Code, Some(&self.code)),
            (From::Variables, self.variables.as_ref()),
            (From::Environment, self.environment.as_ref()),
        ];
        layers.into_iter().find_map(|(from, layer)| {
            let name = if from == From::Code { call } else { variable };
            Some(Setting {
                value: of(layer?)?,
                name: name.to_owned(),
                from,
            })
        })
    }

    pub(super) fn url(&self, app: App) -> Option<Setting<&str>> {
        self.first(&app.url_setter(), app.url_variable(), |layer| {
            layer.urls.get(&app).map(String::as_str)
        })
    }

    pub(super) fn audience(&self, app: App) -> Option<Setting<&str>> {
        self.first(&app.audience_setter(), app.audience_variable(), |layer| {
            layer.audiences.get(&app).map(String::as_str)
        })
    }

    pub(super) fn token_url(&self) -> Option<Setting<&str>> {
        self.first("token_url", address::TOKEN_URL, |layer| {
            layer.token_url.as_deref()
        })
    }

    pub(super) fn client_id(&self) -> Option<Setting<&str>> {
        self.first("credentials", address::CLIENT_ID, |layer| {
            layer.client_id.as_deref()
        })
    }

    pub(super) fn client_secret(&self) -> Option<Setting<&Secret>> {
        self.first("credentials", address::CLIENT_SECRET, |layer| {
            layer.client_secret.as_ref()
        })
    }

    /// Whether variables of any kind were asked for, so that a missing one is worth naming.
    pub(super) fn has_variables(&self) -> bool {
        self.variables.is_some() || self.environment.is_some()
    }
}
