//! The program `suite`: the command line, and the command that it selects.

#![allow(dead_code, reason = "its commands follow")]

mod context;
mod doctor;
mod export;
mod funnel;
mod output;
mod private;
mod stop;

use std::process::ExitCode;

use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use context::{Context, Settings};
use output::Failure;

/// Works with a suite of business applications: CRM, Calendar, Accounting and Platform.
///
/// It talks to the installation that the variables SUITE_CORE_URL, SUITE_CRM_URL, SUITE_CALENDAR_URL, SUITE_ACCOUNTING_URL,
/// SUITE_CLIENT_ID and SUITE_CLIENT_SECRET describe.
#[derive(Parser)]
#[command(name = "suite", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare an installation with the assumptions of the SDK. It only reads.
    Doctor,
    /// Write a list of the CRM to a file, and resume where it was stopped.
    Export(export::Args),
    /// Draw the pipeline funnel.
    Funnel(funnel::Args),
}

#[tokio::main]
async fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let (settings, command) = match (
        Settings::from_arg_matches(&matches),
        Command::from_arg_matches(&matches),
    ) {
        (Ok(settings), Ok(command)) => (settings, command),
        (Err(error), _) | (_, Err(error)) => error.exit(),
    };
    let format = settings.format();
    output::end(run(settings, command).await, format)
}

async fn run(settings: Settings, command: Command) -> Result<ExitCode, Failure> {
    let context = Context::open(settings).await?;
    match command {
        Command::Doctor => doctor::run(&context).await,
        Command::Export(args) => export::run(&context, args).await,
        Command::Funnel(args) => funnel::run(&context, args).await,
    }
}
