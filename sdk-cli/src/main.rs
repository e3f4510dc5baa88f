//! The `suite` program, which parses the command line and runs the selected command.

// Use `output` instead, which detects a full disk and a closed pipe.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(
    clippy::doc_markdown,
    reason = "comments on options are the help of the program"
)]

mod call;
mod catalog;
mod context;
mod doctor;
mod export;
mod funnel;
#[cfg(feature = "mcp")]
mod mcp;
mod outbox;
mod output;
mod private;
mod stop;
mod table;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use context::{Context, Settings};
use output::{Failure, Format};

/// Work with a suite of business applications: CRM, Calendar, Accounting and Platform.
///
/// The variables SUITE_CORE_URL, SUITE_CRM_URL, SUITE_CALENDAR_URL, SUITE_ACCOUNTING_URL, SUITE_CLIENT_ID and
/// SUITE_CLIENT_SECRET select the installation.
#[derive(Parser)]
#[command(name = "suite", version)]
struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the SDK's assumptions against an installation, using only reads.
    ///
    /// The exit status is 0 if the doctor found no problem, 1 if it found a problem, and 2 if the SDK doesn't work with
    /// this configuration.
    Doctor,
    /// Write a list of the CRM to a file, and resume an interrupted export.
    Export(export::Args),
    /// Draw the pipeline funnel.
    Funnel(funnel::Args),
    /// Operate a service's outbox (its stored commands) on SQLite or PostgreSQL.
    ///
    /// Only the service creates the outbox. This command migrates tables that an older release of sdk-outbox
    /// created.
    Outbox(outbox::Args),
    /// Serve the operations to an agent over the Model Context Protocol, on standard input and output.
    ///
    /// Reads run immediately. Writes are stored as proposals, which a person approves with `suite mcp approvals`.
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    /// List all operations.
    Operations,
    /// Print shell completions: `suite completions bash > suite.bash`.
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Serve all applications with demo data. `suite serve --help` lists the options.
    #[cfg(feature = "serve")]
    #[command(disable_help_flag = true)]
    Serve {
        /// The options of suite-reference-server
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let parsed = command().try_get_matches();
    let parsed = parsed.and_then(|it| Ok((Settings::from_arg_matches(&it)?, it)));
    match parsed {
        Ok((settings, matches)) => {
            let format = settings.failure_format();
            output::end(run(settings, &matches).await, format)
        }
        // If standard error isn't a terminal, a program may read it, so the failure is JSON.
        Err(error) if error.use_stderr() && output::failure_format() == Format::Json => {
            output::end(Err(error.into()), Format::Json)
        }
        Err(error) => error.exit(),
    }
}

/// Returns the command line. `call` is built at run time, because the operations and their parameters come from the
/// contract. It is therefore not a variant of [`Command`], and [`Cli`] can't parse it.
fn command() -> clap::Command {
    Cli::command().subcommand(call::command())
}

async fn run(settings: Settings, matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if let Some(("call", matches)) = matches.subcommand() {
        return call::run(settings, matches).await;
    }
    match Command::from_arg_matches(matches)? {
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "suite", &mut script);
            output::write(&String::from_utf8_lossy(&script));
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(feature = "serve")]
        Command::Serve { options } => {
            Ok(sdk_reference_server::program::run("suite serve", options).await)
        }
        Command::Outbox(args) => outbox::run(&Context::open(settings).await?, args).await,
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => Box::pin(mcp::run(Context::open(settings).await?, args)).await,
        Command::Operations => Ok(call::operations(settings.format())),
        Command::Doctor => doctor::run(&Context::open(settings).await?).await,
        Command::Export(args) => export::run(&Context::open(settings).await?, args).await,
        Command::Funnel(args) => funnel::run(&Context::open(settings).await?, args).await,
    }
}
