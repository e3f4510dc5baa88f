//! The sources of settings and their precedence.

use std::collections::HashMap;

use crate::app::App;
use crate::secret::value::Secret;

/// A setting that can be made in code or by a variable.
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
    /// Returns its environment variable, without an installation's prefix.
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

    fn call(self) -> String {
        match self {
            Self::Url(app) => app.url_setter(),
            Self::Audience(app) => app.audience_setter(),
            Self::TokenUrl => "token_url".to_owned(),
            _ => "credentials".to_owned(),
        }
    }
}

/// The source of a setting, in order of precedence. The order of the method calls doesn't matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// A method of the builder.
    Code,
    /// The variables that the program passed.
    Variables,
    /// The environment of the process.
    Environment,
}

/// A setting, with the variable or the builder method that set it.
#[derive(Clone, Debug)]
pub(super) struct Setting<'a> {
    pub(super) value: &'a str,
    pub(super) name: String,
    pub(super) kind: SourceKind,
}

/// The settings of one source, by variable name. Values are `Secret`s, because one of the settings is secret.
#[derive(Clone, Debug, Default)]
pub(super) struct Source(HashMap<String, Secret>);

impl Source {
    /// Reads the variables that [`Suite::from_env`](crate::Suite::from_env) lists. Empty variables count as missing.
    /// All other values are used unchanged, including spaces.
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

/// All settings, with the source of the highest precedence first.
#[derive(Clone, Debug, Default)]
pub(super) struct SettingSources {
    pub(super) code: Source,
    pub(super) variables: Option<Source>,
    pub(super) environment: Option<Source>,
    /// The prefix of all variable names, such as `ACME_`.
    pub(super) prefix: String,
}

impl SettingSources {
    /// Returns the setting of the highest precedence.
    pub(super) fn get(&self, key: Key) -> Option<Setting<'_>> {
        self.each(key).next()
    }

    /// The setting from the same source as the secret. Without a secret, the setting of the highest precedence.
    pub(super) fn next_to_secret(&self, key: Key) -> Option<Setting<'_>> {
        let secret = self.get(Key::ClientSecret).map(|secret| secret.kind);
        self.each(key)
            .find(|setting| secret.is_none_or(|kind| kind == setting.kind))
    }

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

    pub(super) fn variable(&self, key: Key) -> String {
        self.prefix.clone() + key.variable()
    }

    pub(super) fn has_prefixed(&self) -> bool {
        let sources = [&self.variables, &self.environment].into_iter().flatten();
        let mut names = sources.flat_map(|source| source.0.keys());
        names.any(|name| name.starts_with(&format!("{}SUITE_", self.prefix)))
    }

    /// Whether the program reads variables at all. If so, errors name the missing ones.
    pub(super) fn has_variables(&self) -> bool {
        self.variables.is_some() || self.environment.is_some()
    }
}
