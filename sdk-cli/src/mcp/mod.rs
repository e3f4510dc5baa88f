//! `suite mcp`: a Model Context Protocol server for agents, and the approvals of their writes.
//!
//! The agent's process runs reads and stores writes as proposals, and can't send a write. The approver's process,
//! `suite mcp approvals`, sends the approved writes.

mod access;
mod approvals;
mod approver;
mod calls;
mod deliver;
mod review;
mod server;
mod store;
mod tools;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use sdk_core::App;

use crate::context::Context;
use crate::output::{Exit, Failure, note_always};
use crate::stop::Stop;
use access::{AGENT, Access};
use approver::APPROVAL_SECRET;
use server::{Server, Shared};
use store::Approvals;
use tools::Selection;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The SQLite file of the proposals, by default `approvals.sqlite` in the installation's state folder [variable:
    /// SUITE_APPROVALS]
    #[arg(long, value_name = "FILE", global = true)]
    store: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    action: Option<Action>,
}

/// The options of the server.
#[derive(clap::Args, Default, PartialEq)]
struct Options {
    #[command(flatten)]
    selection: Selection,
    /// How long a proposal waits for a person, in minutes, 60 by default
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=24 * 60))]
    expiry: Option<u64>,
    /// The maximum size of a read's result, in bytes, 65536 by default
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1024..))]
    max_result: Option<u64>,
}

#[derive(Subcommand)]
enum Action {
    /// Review, approve and reject the writes that an agent proposed
    #[command(subcommand)]
    Approvals(approvals::Action),
}

pub(crate) async fn run(context: Context, args: Args) -> Result<ExitCode, Failure> {
    match args.action {
        Some(Action::Approvals(action)) => {
            if args.options != Options::default() {
                return Err(Failure::usage(
                    "the options of the server have no effect on approvals",
                ));
            }
            if context.is_demo() {
                return Err(Failure::usage(
                    "--demo has no approvals, because its server ends with the process",
                ));
            }
            let creates = matches!(action, approvals::Action::Run);
            let store = Approvals::open(path(&context, args.store)?, creates).await?;
            approvals::run(&context, store, action).await
        }
        None => serve(context, args.store, args.options).await,
    }
}

/// Serves one agent until its client closes standard input.
async fn serve(
    context: Context,
    store: Option<PathBuf>,
    options: Options,
) -> Result<ExitCode, Failure> {
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    if let Some(name) = names.into_iter().find(|it| it.contains(APPROVAL_SECRET)) {
        let message =
            format!("{name} is set, but the agent's process must not have the approver's secret");
        return Err(Failure::setup(message));
    }
    // A server in this process can't receive the writes that another process approves.
    let mut selection = options.selection;
    selection.read_only |= context.is_demo();
    let entries = selection.entries()?;
    let suite = context.suite()?;
    let store = Approvals::open(path(&context, store)?, true).await?;
    let apps: Vec<App> = App::all().collect();
    let own = Access::of(&context, &suite, &apps).await?;
    let own = own.with_probes(&suite).await?;
    own.note_problems();
    let client = context.variables().get("SUITE_CLIENT_ID");
    let client = client.cloned().unwrap_or_default();
    access::register(&store, AGENT, &client, &own)?;
    let (protection, is_protected) = access::registered_protection(&store)?;
    if !(is_protected || selection.read_only) {
        note_always(format_args!(
            "warning: protection of approvals: {protection}"
        ));
    }
    let server = Server::new(Shared {
        suite,
        own: (client, own),
        entries,
        undocumented_scopes: selection.undocumented_scopes,
        store,
        lifetime: Duration::from_secs(options.expiry.unwrap_or(60) * 60),
        max_result: usize::try_from(options.max_result.unwrap_or(64 << 10)).unwrap_or(usize::MAX),
        subscriptions: std::sync::Mutex::default(),
        context,
    });
    if std::io::stdin().is_terminal() {
        note_always(
            "The client of an agent starts this program and sends messages on standard input.",
        );
    }
    let mut stop = Stop::listen()?;
    let closed = async {
        let problem = |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, "protocol", error);
        let service = match server.serve(stdio_pipes()).await {
            // The client may only have tested whether the program starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
                let rule = "the first message must be `initialize` or a request of 2026-07-28";
                return Err(problem(&rule));
            }
            service => service.map_err(|error| problem(&error))?,
        };
        let ended = service.waiting().await;
        ended.map(drop).map_err(|error| problem(&error))
    };
    match stop.or(closed).await {
        Some(ended) => ended.map(|()| ExitCode::SUCCESS),
        // Returning would wait for a read of standard input, which can't be cancelled.
        None => stop.exit(),
    }
}

/// Returns how the right to approve is protected, and whether it is protected at all. `None` if no agent or approver uses
/// the installation's store.
pub(crate) async fn protection(context: &Context) -> Result<Option<(String, bool)>, Failure> {
    let path = path(context, None)?;
    if !path.exists() {
        return Ok(None);
    }
    let store = Approvals::open(path, false).await?;
    access::registered_protection(&store).map(Some)
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
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|it| it.is_absolute())
    };
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    let state = state.ok_or_else(|| {
        let message = "set SUITE_APPROVALS or --store, because HOME is not set";
        Failure::setup(message)
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
