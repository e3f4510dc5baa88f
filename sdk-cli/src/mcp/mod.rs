//! `suite mcp`: a Model Context Protocol server for agents, and the approvals of their writes.
//!
//! The agent's process runs reads and stores writes as proposals, and can't send a write. The approver's process,
//! `suite mcp approvals`, sends what a person approved.

mod access;
mod approvals;
mod calls;
mod deliver;
mod desk;
mod review;
mod store;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::context::Context;
use crate::output::Failure;
use store::Approvals;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = false)]
pub(crate) struct Args {
    /// The SQLite file of the proposals [variable: SUITE_APPROVALS]
    /// [default: approvals.sqlite in the state folder of the installation]
    #[arg(long, value_name = "FILE", global = true)]
    store: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Review, approve and reject the writes that an agent proposed
    #[command(subcommand)]
    Approvals(approvals::Action),
}

pub(crate) async fn run(context: Context, args: Args) -> Result<ExitCode, Failure> {
    let Action::Approvals(action) = args.action;
    if context.is_demo() {
        return Err(Failure::usage(
            "--demo has no approvals, because its server ends with the process",
        ));
    }
    let store = Approvals::open(path(&context, args.store)?).await?;
    approvals::run(&context, store, action).await
}

/// Returns how the right to approve is protected, and whether it is protected at all. `None` if no agent or approver uses
/// the installation's store.
pub(crate) async fn protection(context: &Context) -> Result<Option<(&'static str, bool)>, Failure> {
    let path = path(context, None)?;
    if !path.exists() {
        return Ok(None);
    }
    let store = Approvals::open(path).await?;
    access::protection(&store).map(Some)
}

/// Returns the path of the store, by default in the state folder of the user.
fn path(context: &Context, option: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let variable = context
        .variables()
        .get("SUITE_APPROVALS")
        .map(PathBuf::from);
    if let Some(path) = option.or(variable) {
        return Ok(path);
    }
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
    };
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    let state = state.ok_or_else(|| {
        Failure::usage("--store is missing, and neither XDG_STATE_HOME nor HOME is set")
    })?;
    let installation = if context.is_demo() {
        "demo"
    } else {
        context.installation().unwrap_or("default")
    };
    Ok(state
        .join("suite")
        .join(installation)
        .join("approvals.sqlite"))
}
