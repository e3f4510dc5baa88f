//! The first program to run: all four applications in a few seconds.
//!
//! ```text
//! cargo run --example tour
//! ```
//!
//! Without a suite in the environment it starts the reference server inside this process. With one
//! (`SUITE_CRM_URL` and the other variables), it talks to that.

mod print;
mod stops;

use std::process::ExitCode;

use sdk_core::{ClientCredentials, Error, Suite};
use sdk_reference_server::ReferenceServer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match tour().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nThe tour ended early: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn tour() -> Result<(), Error> {
    let server = server().await;
    let suite = connect(server.as_ref())?;
    let crm = sdk_crm::Client::new(&suite)?;
    let calendar = sdk_calendar::Client::new(&suite)?;
    let accounting = sdk_accounting::Client::new(&suite)?;
    let platform = sdk_platform::Client::new(&suite)?;
    // A suite that shares nothing with the first, as in another process.
    let elsewhere = sdk_calendar::Client::new(&connect(server.as_ref())?)?;

    stops::platform(&platform).await?;
    stops::attention(&crm).await?;
    stops::people(&crm).await?;
    stops::pipeline(&crm).await?;
    stops::presentation(&crm).await?;
    stops::event(&calendar, &elsewhere).await?;
    stops::books(&accounting).await?;
    // The same suite, allowed to do less: its CRM tokens are for the attention queue only.
    let narrow = suite.with_scopes("crm", ["crm:today:read"]);
    stops::refusal(&sdk_crm::Client::new(&narrow)?).await?;

    print::heading("What it cost");
    let stats = suite.stats();
    print::fact("calls", stats.calls);
    print::fact("attempts", stats.attempts);
    print::fact("token exchanges", stats.token_exchanges);
    Ok(())
}

/// The server to talk to, if it runs in this process.
async fn server() -> Option<ReferenceServer> {
    if std::env::vars_os().any(|(name, _)| names_a_suite(&name)) {
        println!("Talking to the suite that the environment names.");
        return None;
    }
    println!("No suite in the environment: talking to a reference server in this process.");
    Some(ReferenceServer::start().await)
}

fn connect(server: Option<&ReferenceServer>) -> Result<Suite, Error> {
    let builder = match server {
        None => Suite::builder().environment()?,
        Some(server) => Suite::builder()
            .core_url(server.core_url())
            .application_url("crm", server.crm_url())
            .application_url("calendar", server.calendar_url())
            .application_url("accounting", server.accounting_url())
            .credentials(ClientCredentials::new(
                server.client_id(),
                server.client_secret(),
            )),
    };
    builder.user_agent("suite-tour").build()
}

fn names_a_suite(variable: &std::ffi::OsStr) -> bool {
    variable.to_string_lossy().starts_with("SUITE_")
}
