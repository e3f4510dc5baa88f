//! What the examples share: the suite that they talk to, and how they talk to people. Included by path, since each
//! example is a program of its own, which uses what it needs.

#![allow(dead_code, unused_imports, unused_macros)]

pub(crate) mod line;
pub(crate) mod out;
pub(crate) mod private;
pub(crate) mod stop;

use sdk_core::{Error, Suite};
use sdk_reference_server::{Builder, ReferenceServer};

use out::note;

/// A reference server in this process, with the data that `demo` asks for, unless the environment names a suite
/// (`SUITE_CRM_URL` and the other variables).
pub(crate) async fn server(demo: impl FnOnce(Builder) -> Builder) -> Option<ReferenceServer> {
    // On standard error: the output of an example may be data.
    let mut names = std::env::vars_os().map(|(name, _)| name);
    if names.any(|name| name.to_string_lossy().starts_with("SUITE_")) {
        note!("Talking to the suite that the environment names.");
        return None;
    }
    note!("No suite in the environment: talking to a reference server in this process.");
    Some(demo(ReferenceServer::builder()).start().await)
}

/// A suite that talks to that server, or to what the environment names.
pub(crate) fn connect(server: Option<&ReferenceServer>, user_agent: &str) -> Result<Suite, Error> {
    let builder = match server {
        None => Suite::builder().environment(),
        Some(server) => Suite::builder().variables(server.environment()),
    };
    builder.user_agent(user_agent).build()
}
