//! `suite outbox`: operates the stored commands of a service.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use sdk_core::App;
use sdk_outbox::{Error, Outbox, State, Store, StoredCommand, Worker, sqlite};
use serde_json::{Value, json};

use crate::catalog::{self, with_client};
use crate::context::Context;
use crate::output::{self, Exit, Failure, Format, note};
use crate::stop::Stop;
use crate::table;

const LISTED: usize = 1_000;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The SQLite file of the outbox, or postgres://USER@HOST/DATABASE. Set a URL with a password in the variable,
    /// because other users of the machine can see command lines [variable: SUITE_OUTBOX]
    #[arg(long, value_name = "STORE", global = true)]
    store: Option<String>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Count the commands by state, and show the oldest unsent command. The exit status is 4 if there are parked
    /// commands
    Status,
    /// List the commands in a state, the oldest first, at most 1,000
    List {
        /// The state
        #[arg(long, default_value = "parked", value_parser = PossibleValuesParser::new(State::ALL.map(State::as_str)))]
        state: String,
    },
    /// Show a command with its exact body
    Show {
        /// The ID of the command
        id: i64,
    },
    /// Resend a parked command, even if it may have been applied
    Retry {
        /// The ID of the command
        id: i64,
        /// The name of the operator
        #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
        by: String,
    },
    /// Drop a parked command, so that it is never sent
    Drop {
        /// The ID of the command
        id: i64,
        /// The name of the operator
        #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
        by: String,
        /// The reason, which is stored with the command
        #[arg(long, value_name = "REASON")]
        why: String,
    },
    /// Send the commands of this installation until Ctrl-C or SIGTERM
    Run,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = if error.is_transient() {
            Exit::Later
        } else {
            Exit::Failed
        };
        Self::new(exit, "outbox", error)
    }
}

pub(crate) async fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let variable = || context.variables().get("SUITE_OUTBOX").cloned();
    let store = args.store.filter(|it| !it.is_empty()).or_else(variable);
    let missing = || format!("set --store or {}SUITE_OUTBOX", context.prefix());
    let store = store.ok_or_else(|| Failure::usage(missing()))?;
    let store = store.trim();
    if context.is_demo() && matches!(args.action, Action::Run) {
        // The commands were prepared for another server, so the worker would park them all.
        let message = "--demo cannot send the commands of an outbox";
        return Err(Failure::usage(message));
    }
    // PostgreSQL's own programs accept both forms.
    let scheme = store.split_once("://").map(|(scheme, _)| scheme);
    let is_database = ["postgres", "postgresql"]
        .iter()
        .any(|it| scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(it)));
    if is_database || store.starts_with("host=") {
        #[cfg(feature = "postgres")]
        return act(context, postgres(store).await?, args.action).await;
        #[cfg(not(feature = "postgres"))]
        return Err(Failure::usage(
            "--store: this program was built without PostgreSQL",
        ));
    }
    // The message omits the address, because it may contain a password.
    if scheme.is_some() || store.contains('@') {
        return Err(Failure::usage(
            "--store must be a file or begin with postgres://",
        ));
    }
    let problem = |error: &dyn Display| Failure::usage(format!("--store {store}: {error}"));
    let found = std::fs::metadata(store).map_err(|error| problem(&error))?;
    if !found.is_file() {
        return Err(problem(&"it is not a file"));
    }
    let reads = matches!(
        args.action,
        Action::Status | Action::List { .. } | Action::Show { .. }
    );
    // The worker would send writes that no person approved.
    if !reads && has_proposals(Path::new(store))? {
        let message = "the outbox has the writes of agents; use `suite mcp approvals`";
        return Err(Failure::usage(message));
    }
    act(
        context,
        sqlite::Outbox::open_existing(store).await?,
        args.action,
    )
    .await
}

/// Whether a SQLite file is the store of the approvals of `suite mcp`.
fn has_proposals(store: &Path) -> Result<bool, Error> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = rusqlite::Connection::open_with_flags(store, flags)?;
    let found = "SELECT count(*) > 0 FROM sqlite_master WHERE name = 'suite_proposal'";
    Ok(database.query_row(found, [], |row| row.get(0))?)
}

/// Opens an outbox on PostgreSQL, with TLS unless the server doesn't support it or `sslmode` forbids it.
#[cfg(feature = "postgres")]
async fn postgres(store: &str) -> Result<sdk_outbox::postgres::Outbox, Failure> {
    use rustls_platform_verifier::BuilderVerifierExt as _;
    let config: tokio_postgres::Config = store
        .parse()
        // The driver's message is omitted, because it may quote the password.
        .map_err(|_| Failure::usage("--store is not a valid address of PostgreSQL"))?;
    let problem = |error| Failure::new(Exit::Setup, "configuration", format!("TLS: {error}"));
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let tls = rustls::ClientConfig::builder_with_provider(provider.into());
    let tls = tls.with_safe_default_protocol_versions().map_err(problem)?;
    let tls = tls.with_platform_verifier().map_err(problem)?;
    let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls.with_no_client_auth());
    Ok(sdk_outbox::postgres::Outbox::open_existing(config, tls).await?)
}

async fn act<S: Store>(
    context: &Context,
    outbox: Outbox<S>,
    action: Action,
) -> Result<ExitCode, Failure> {
    match action {
        Action::Status => return status(&outbox, context.format()).await,
        Action::List { state } => {
            let state = State::ALL.into_iter().find(|it| it.as_str() == state);
            list(&outbox, state.unwrap_or(State::Parked), context.format()).await?;
        }
        Action::Show { id } => show(&outbox, id, context.format()).await?,
        Action::Retry { id, by } => {
            outbox.retry(id, &by).await?;
            note(format_args!("command {id} will be resent"));
        }
        Action::Drop { id, by, why } => {
            outbox.drop(id, &by, &why).await?;
            note(format_args!("command {id} will not be sent"));
        }
        Action::Run => return work(context, outbox).await,
    }
    Ok(ExitCode::SUCCESS)
}

async fn status(outbox: &Outbox<impl Store>, format: Format) -> Result<ExitCode, Failure> {
    let status = outbox.status().await?;
    let count = |it: &sdk_outbox::Count| json!({"state": it.state.as_str(), "reason": it.reason, "commands": it.commands});
    let counts: Vec<Value> = status.counts.iter().map(count).collect();
    if format == Format::Table {
        table::print_rows(&counts, &["state", "reason", "commands"], format);
        if let Some(oldest) = &status.oldest {
            let age = oldest.age.as_secs();
            output::put(format_args!(
                "oldest unsent: command {}, {age} s old",
                oldest.id
            ));
        }
    } else {
        output::put(json!({"counts": counts, "oldest": status.oldest.as_ref().map(row)}));
    }
    let needs_a_person = status.count(State::Parked) > 0;
    Ok(if needs_a_person {
        ExitCode::from(Exit::Person as u8)
    } else {
        ExitCode::SUCCESS
    })
}

async fn list(outbox: &Outbox<impl Store>, state: State, format: Format) -> Result<(), Failure> {
    let commands = outbox.list(state).await?;
    let rows: Vec<Value> = commands.iter().map(row).collect();
    let columns = [
        "id",
        "installation",
        "operation",
        "reference",
        "lane",
        "ageSeconds",
        "attempts",
        "reason",
        "note",
    ];
    table::print_rows(&rows, &columns, format);
    if rows.len() == LISTED {
        note(format_args!(
            "These are the oldest {LISTED}; there may be more."
        ));
    }
    Ok(())
}

async fn show(outbox: &Outbox<impl Store>, id: i64, format: Format) -> Result<(), Failure> {
    let found = outbox.find(id).await?;
    let found = found.ok_or_else(|| {
        Failure::new(
            Exit::Failed,
            "not_found",
            format!("there is no command {id}"),
        )
    })?;
    let mut shown = row(&found);
    match found.prepared() {
        Ok(command) => {
            shown["request"] = json!(format!("{} {}", command.method(), command.path()));
            shown["key"] = json!(
                command
                    .idempotency_key()
                    .map(sdk_core::IdempotencyKey::as_str)
            );
            shown["body"] = json!(command.body());
        }
        Err(problem) => shown["unreadable"] = json!(problem),
    }
    table::print_value(&shown.into(), format);
    Ok(())
}

/// Returns a command without its body.
fn row(command: &StoredCommand) -> Value {
    let operation = command.prepared().ok();
    let operation = operation.map(|it| format!("{}.{}", it.application(), it.operation()));
    let first_sent = command
        .first_sent
        .and_then(|it| jiff::Timestamp::try_from(it).ok());
    json!({
        "id": command.id,
        "state": command.state.as_str(),
        "application": command.application,
        "installation": command.installation,
        "operation": operation,
        "lane": command.lane,
        "reference": command.reference,
        "ageSeconds": command.age.as_secs(),
        "attempts": command.attempts,
        "firstSent": first_sent.map(|it| it.to_string()),
        "reason": command.reason,
        "note": command.note,
        "late": command.late,
    })
}

/// Runs a worker for the applications with an address in the installation.
async fn work(context: &Context, outbox: Outbox<impl Store>) -> Result<ExitCode, Failure> {
    let mut stop = Stop::listen()?;
    let suite = context.suite()?;
    let mut worker = Worker::new(outbox.clone());
    for app in App::all().filter(|app| !catalog::operations(*app).is_empty()) {
        if !context.has(app) {
            let variable = format!("{}{}", context.prefix(), app.url_variable());
            note(format_args!(
                "{variable} is not set, so commands for {app} are not sent."
            ));
            continue;
        }
        worker = with_client!(app, &suite, |client| {
            let Some(ready) = stop.or(client.prewarm()).await else {
                return Ok(stop.status());
            };
            // Other failures may be temporary, and each command tries again.
            match ready.map_err(Failure::from) {
                Err(failure) if failure.exit == Exit::Setup => return Err(failure),
                Err(failure) => note(format_args!("{app}: {failure}")),
                Ok(()) => {}
            }
            worker.sender(client)
        });
    }
    note("Sending. Press Ctrl-C to stop after the commands in flight.");
    let stopped = async move {
        stop.heard().await;
        note("Stopping after the commands in flight, within 30 s. Press Ctrl-C again to stop now.");
    };
    worker.run(stopped).await?;
    let status = outbox.status().await?;
    let count = |it: &sdk_outbox::Count| format!("{} {}", it.commands, it.state.as_str());
    let counts: Vec<String> = status.counts.iter().map(count).collect();
    note(format_args!(
        "Stopped. The outbox has: {}",
        counts.join(", ")
    ));
    Ok(ExitCode::SUCCESS)
}
