//! What the examples share: the suite that they talk to. Included by path, since each example is a program of its own.

use sdk_core::{Error, Suite};
use sdk_reference_server::{Builder, ReferenceServer};

use crate::out::note;

/// A reference server in this process, with the data that `demo` asks for, unless the environment names a suite
/// (`SUITE_CRM_URL` and the other variables).
pub(crate) async fn server(demo: impl FnOnce(Builder) -> Builder) -> Option<ReferenceServer> {
    // On standard error: the output of an example may be data.
    if std::env::vars_os().any(|(name, _)| names_a_suite(&name)) {
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

fn names_a_suite(variable: &std::ffi::OsStr) -> bool {
    variable.to_string_lossy().starts_with("SUITE_")
}
