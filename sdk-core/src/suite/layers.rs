//! Where settings come from, and which of them counts.

use std::collections::HashMap;

use crate::app::App;
use crate::secret::value::Secret;

/// A setting that a program or its environment can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Url(App),
    Audience(App),
    TokenUrl,
    ClientId,
    ClientSecret,
    AuthMethod,
    AudienceField,
}

impl Key {
    /// The credential, and what belongs to it.
    pub(super) const CREDENTIAL: [Self; 4] = [
        Self::ClientId,
        Self::ClientSecret,
        Self::AuthMethod,
        Self::AudienceField,
    ];

    /// The environment variable that sets it.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::Url(app) => app.url_variable(),
            Self::Audience(app) => app.audience_variable(),
            Self::TokenUrl => "SUITE_TOKEN_URL",
            Self::ClientId => "SUITE_CLIENT_ID",
            Self::ClientSecret => "SUITE_CLIENT_SECRET",
            Self::AuthMethod => "SUITE_TOKEN_AUTH_METHOD",
            Self::AudienceField => "SUITE_TOKEN_AUDIENCE_FIELD",
        }
    }

    /// The call of the builder that sets it.
    fn call(self) -> String {
        match self {
            Self::Url(app) => app.url_setter(),
            Self::Audience(app) => app.audience_setter(),
            Self::TokenUrl => "token_url".to_owned(),
            _ => "credentials".to_owned(),
        }
    }

    fn of_variable(name: &str) -> Option<Self> {
        let of_apps = App::ALL.map(|app| [Self::Url(app), Self::Audience(app)]);
        let mut keys = of_apps
            .into_iter()
            .flatten()
            .chain([Self::TokenUrl])
            .chain(Self::CREDENTIAL);
        keys.find(|key| key.variable() == name)
    }
}

/// Where a setting was made. The first of these that makes it counts, in whatever order the methods are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// By a method of the builder.
    Code,
    /// Among variables that the program passed.
    Variables,
    /// In the environment of the process.
    Environment,
}

/// A setting, and the variable or the call of the builder that made it.
#[derive(Clone, Debug)]
pub(super) struct Setting<'a> {
    pub(super) value: &'a str,
    pub(super) name: String,
    pub(super) from: From,
}

/// The settings from one place. One of them is secret, so none is printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer(HashMap<Key, Secret>);

impl Layer {
    /// Takes the variables that [`Suite::from_env`](crate::Suite::from_env) lists. An empty one counts as missing, and all
    /// others are taken unchanged, blanks included.
    pub(super) fn read(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        for (name, value) in variables {
            if let Some(key) = Key::of_variable(&name).filter(|_| !value.is_empty()) {
                self.set(key, value);
            }
        }
    }

    pub(super) fn set(&mut self, key: Key, value: impl Into<String>) {
        self.0.insert(key, Secret::from(value.into()));
    }
}

/// All settings, those from the most explicit place first.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    pub(super) code: Layer,
    pub(super) variables: Option<Layer>,
    pub(super) environment: Option<Layer>,
}

impl Layers {
    /// The setting that counts.
    pub(super) fn get(&self, key: Key) -> Option<Setting<'_>> {
        self.each(key).next()
    }

    /// The setting from where the secret comes from. Without a secret, the one that would count.
    pub(super) fn beside_secret(&self, key: Key) -> Option<Setting<'_>> {
        let secret = self.get(Key::ClientSecret).map(|secret| secret.from);
        self.each(key)
            .find(|setting| secret.is_none_or(|from| from == setting.from))
    }

    /// The setting in each place that makes it.
    fn each(&self, key: Key) -> impl Iterator<Item = Setting<'_>> {
        let layers = [
            (From::Code, Some(&self.code)),
            (From::Variables, self.variables.as_ref()),
            (From::Environment, self.environment.as_ref()),
        ];
        layers.into_iter().filter_map(move |(from, layer)| {
            let value = layer?.0.get(&key)?.expose();
            let name = match from {
                From::Code => key.call(),
                From::Variables | From::Environment => key.variable().to_owned(),
            };
            Some(Setting { value, name, from })
        })
    }

    /// Whether the program takes variables from anywhere, so that errors name missing ones.
    pub(super) fn has_variables(&self) -> bool {
        self.variables.is_some() || self.environment.is_some()
    }
}
