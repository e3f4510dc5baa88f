//! Where settings come from, and which of them counts.

use std::collections::HashMap;

use crate::app::App;
use crate::secret::value::Secret;

/// A setting that a program or its environment can make.
#[derive(Clone, Copy, Debug)]
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
    /// The environment variable that sets it, without the prefix of an installation.
    fn variable(self) -> &'static str {
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
}

/// Where a setting was made. The first of these that makes it counts, in whatever order the methods are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
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
    pub(super) kind: SourceKind,
}

/// The settings from one place, by the names of their variables. One of them is secret, so none is printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Source(HashMap<String, Secret>);

impl Source {
    /// Takes the variables that [`Suite::from_env`](crate::Suite::from_env) lists. An empty one counts as missing, and all
    /// others are taken unchanged, blanks included.
    pub(super) fn read(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        for (name, value) in variables {
            if !value.is_empty() {
                self.0.insert(name, Secret::from(value));
            }
        }
    }

    pub(super) fn set(&mut self, key: Key, value: impl Into<String>) {
        let name = key.variable().to_owned();
        self.0.insert(name, Secret::from(value.into()));
    }
}

/// All settings, those from the most explicit place first.
#[derive(Clone, Debug, Default)]
pub(super) struct SettingSources {
    pub(super) code: Source,
    pub(super) variables: Option<Source>,
    pub(super) environment: Option<Source>,
    /// Precedes the names of all variables, such as `ACME_`.
    pub(super) prefix: String,
}

impl SettingSources {
    /// The setting that counts.
    pub(super) fn get(&self, key: Key) -> Option<Setting<'_>> {
        self.each(key).next()
    }

    /// The setting from where the secret comes from. Without a secret, the one that would count.
    pub(super) fn next_to_secret(&self, key: Key) -> Option<Setting<'_>> {
        let secret = self.get(Key::ClientSecret).map(|secret| secret.kind);
        self.each(key)
            .find(|setting| secret.is_none_or(|kind| kind == setting.kind))
    }

    /// The setting in each place that makes it.
    fn each(&self, key: Key) -> impl Iterator<Item = Setting<'_>> {
        let sources = [
            (SourceKind::Code, Some(&self.code)),
            (SourceKind::Variables, self.variables.as_ref()),
            (SourceKind::Environment, self.environment.as_ref()),
        ];
        sources.into_iter().filter_map(move |(kind, source)| {
            let (source, variable) = (&source?.0, self.variable(key));
            let (value, name) = match kind {
                SourceKind::Code => (source.get(key.variable())?, key.call()),
                SourceKind::Variables | SourceKind::Environment => {
                    (source.get(&variable)?, variable)
                }
            };
            let value = value.expose();
            Some(Setting { value, name, kind })
        })
    }

    /// The environment variable of a setting.
    pub(super) fn variable(&self, key: Key) -> String {
        self.prefix.clone() + key.variable()
    }

    /// Whether any variable has the prefix.
    pub(super) fn has_prefixed(&self) -> bool {
        let sources = [&self.variables, &self.environment].into_iter().flatten();
        let mut names = sources.flat_map(|source| source.0.keys());
        names.any(|name| name.starts_with(&format!("{}SUITE_", self.prefix)))
    }

    /// Whether the program takes variables from anywhere, so that errors name missing ones.
    pub(super) fn has_variables(&self) -> bool {
        self.variables.is_some() || self.environment.is_some()
    }
}
