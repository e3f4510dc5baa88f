//! The selected installation, and the options of all commands.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{IsTerminal as _, Read as _};

use clap::Args;
use sdk_core::{App, Suite, SuiteBuilder};
#[cfg(feature = "serve")]
use sdk_reference_server::ReferenceServer;

use crate::output::{self, Failure, Format};

/// The variables of an installation, without their prefix.
pub(crate) type Variables = BTreeMap<String, String>;

const SECRET: &str = "SUITE_CLIENT_SECRET";
/// The longest secret, in bytes. This limit keeps a wrong file out of memory.
const MAX_SECRET: u64 = 1 << 16;

/// The options of all commands.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Settings {
    /// Read only the variables of this installation, such as ACME_SUITE_CRM_URL for `acme`
    #[arg(long, global = true, value_name = "NAME")]
    installation: Option<String>,
    /// Print results as a table, JSON, or one JSON value per line [default: table on a terminal, otherwise json]
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
    /// Print no progress and no notes
    #[arg(long, global = true)]
    quiet: bool,
    /// Use a reference server in this process, with demo data
    #[cfg(feature = "serve")]
    #[arg(long, global = true, conflicts_with = "installation")]
    demo: bool,
}

impl Settings {
    pub(crate) fn format(&self) -> Format {
        let is_terminal = std::io::stdout().is_terminal();
        let default = if is_terminal {
            Format::Table
        } else {
            Format::Json
        };
        self.output.unwrap_or(default)
    }

    /// Returns the format of failures, which go to standard error.
    pub(crate) fn failure_format(&self) -> Format {
        self.output.unwrap_or_else(output::failure_format)
    }
}

pub(crate) struct Context {
    settings: Settings,
    variables: Variables,
    #[cfg(feature = "serve")]
    demo: Option<ReferenceServer>,
}

impl Context {
    /// Reads the variables, or starts the demo server. Nothing is sent.
    #[cfg_attr(not(feature = "serve"), expect(clippy::unused_async))]
    pub(crate) async fn open(settings: Settings) -> Result<Self, Failure> {
        output::set_quiet(settings.quiet);
        #[cfg(feature = "serve")]
        if settings.demo {
            let server = ReferenceServer::builder().wall_clock().start().await;
            output::note("Demo: using a reference server in this process.");
            return Ok(Self {
                settings,
                variables: server.environment().into_iter().collect(),
                demo: Some(server),
            });
        }
        let prefix = settings.installation.as_deref().map(prefix);
        Ok(Self {
            variables: variables(prefix.as_deref().unwrap_or_default())?,
            settings,
            #[cfg(feature = "serve")]
            demo: None,
        })
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.settings.quiet
    }

    #[cfg_attr(not(feature = "serve"), expect(clippy::unused_self))]
    pub(crate) fn is_demo(&self) -> bool {
        #[cfg(feature = "serve")]
        return self.demo.is_some();
        #[cfg(not(feature = "serve"))]
        false
    }

    pub(crate) fn format(&self) -> Format {
        self.settings.format()
    }

    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }

    pub(crate) fn name(&self) -> &str {
        if self.is_demo() {
            return "the demo server in this process";
        }
        let default = "default (the variables SUITE_*)";
        self.settings.installation.as_deref().unwrap_or(default)
    }

    /// Returns the name of the installation that the caller selected.
    #[cfg(feature = "mcp")]
    pub(crate) fn installation(&self) -> Option<&str> {
        self.settings.installation.as_deref()
    }

    /// Returns a secret from its variable or its file.
    #[cfg(feature = "mcp")]
    pub(crate) fn secret(&self, name: &str) -> Result<Option<String>, Failure> {
        secret(&mut self.variables.clone(), &self.prefix(), name)
    }

    pub(crate) fn has(&self, app: App) -> bool {
        self.variables.contains_key(app.url_variable())
    }

    /// Returns the prefix of the installation's variables, such as `ACME_`.
    pub(crate) fn prefix(&self) -> String {
        self.settings
            .installation
            .as_deref()
            .map_or_else(String::new, prefix)
    }

    /// Returns a builder with the installation's settings. Its errors name the variables with their prefix.
    pub(crate) fn builder(&self) -> SuiteBuilder {
        self.builder_with(&self.variables)
    }

    /// Returns a builder with other settings of the same installation.
    pub(crate) fn builder_with(&self, variables: &Variables) -> SuiteBuilder {
        let builder = Suite::builder().user_agent(concat!("suite/", env!("CARGO_PKG_VERSION")));
        let Some(name) = &self.settings.installation else {
            return builder.variables(variables.clone());
        };
        let prefix = prefix(name);
        let prefixed = variables.iter();
        let prefixed = prefixed.map(|(name, value)| (format!("{prefix}{name}"), value.clone()));
        builder.installation(name).variables(prefixed)
    }

    pub(crate) fn suite(&self) -> Result<Suite, Failure> {
        Ok(self.builder().build()?)
    }
}

/// Returns the prefix for a name, such as `ACME_` for `acme`. Building a suite checks the name.
fn prefix(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_") + "_"
}

fn variables(prefix: &str) -> Result<Variables, Failure> {
    let mut found = Variables::new();
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let Some(name) = name
            .strip_prefix(prefix)
            .filter(|it| it.starts_with("SUITE_"))
        else {
            continue;
        };
        let Ok(value) = value.into_string() else {
            let message = format!("{prefix}{name} is not UTF-8");
            return Err(Failure::setup(message));
        };
        if !value.is_empty() {
            found.insert(name.to_owned(), value);
        }
    }
    if let Some(secret) = secret(&mut found, prefix, SECRET)? {
        found.insert(SECRET.to_owned(), secret);
    }
    Ok(found)
}

/// Removes a secret from the variables. It is the value of the variable, or in the file that the variable with the suffix
/// `_FILE` names.
fn secret(found: &mut Variables, prefix: &str, name: &str) -> Result<Option<String>, Failure> {
    let own = found.remove(name);
    let Some(file) = found.remove(&format!("{name}_FILE")) else {
        return Ok(own);
    };
    if own.is_some() {
        let message = format!("{prefix}{name} and {prefix}{name}_FILE are both set");
        return Err(Failure::setup(message));
    }
    let mut secret = String::new();
    let read = std::fs::File::open(&file)
        .and_then(|it| it.take(MAX_SECRET + 1).read_to_string(&mut secret));
    // The message omits the path, because the variable may contain the secret by mistake.
    let problem = |problem: &dyn Display| {
        let message = format!("the file in {prefix}{name}_FILE cannot be used: {problem}");
        Failure::setup(message)
    };
    read.map_err(|error| problem(&error))?;
    if secret.len() as u64 > MAX_SECRET {
        return Err(problem(&"it is larger than 64 KiB"));
    }
    Ok(Some(secret.trim_end().to_owned()))
}
