//! `suite call` and `suite operations`: calls any operation by its name, with its parameters as options.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use sdk_core::{Effect, IdempotencyKey, PreparedCommand, RawJson, Suite};
use sdk_platform::types::TokenForm;
use serde_json::Value;

use crate::catalog::{self, Entry, Parameter, with_client};
use crate::context::{Context, Settings};
use crate::output::{self, Exit, Failure, Format, note, note_always};
use crate::stop::Stop;
use crate::table;

/// The largest body, in bytes. The contract documents no limit. This limit keeps a wrong file out of memory.
const MAX_BODY: u64 = 16 << 20;

/// Returns the command `call`, with a subcommand for each operation.
pub(crate) fn command() -> Command {
    let operation = |entry: Entry| {
        let operation = entry.operation;
        let line = format!("{} {}", operation.method, operation.route);
        let mut command = Command::new(entry.name())
            .about(operation.summary)
            .long_about(format!("{}\n\n{line}", operation.summary))
            .alias(operation.id)
            .args(entry.parameters().map(|it| option(&it)));
        let full = format!(
            "{}.{}.{}",
            operation.application, operation.group, operation.name
        );
        if entry.name() != full {
            command = command.alias(full);
        }
        if operation.body {
            let skeleton = "Print a body to fill in, without sending anything";
            command = command
                .arg(
                    Arg::new("body")
                        .long("body")
                        .value_name("FILE")
                        .help("The JSON body; `-` reads standard input"),
                )
                .arg(flag("skeleton", skeleton));
        }
        if entry.is_write() {
            let prepare = "Print the prepared command as JSON for a service to send later, without sending it";
            command = command
                .arg(flag("yes", "Send without confirmation"))
                .arg(flag("prepare", prepare).conflicts_with("yes"));
        }
        if operation.safety == sdk_core::Safety::Keyed {
            let key = Arg::new("key").long("key").value_name("KEY");
            command = command
                .arg(key.help("The idempotency key of an earlier attempt [default: a random key]"));
        }
        command
    };
    Command::new("call")
        .about("Call any operation; `suite operations` lists them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(catalog::all().map(operation))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

fn option(parameter: &Parameter) -> Arg {
    let about = parameter.about.lines().next().unwrap_or_default();
    let about = about.trim_end_matches('.');
    let rule = parameter.rule();
    let help = match (about, rule.as_str()) {
        (about, "") => about.to_owned(),
        ("", rule) => rule.to_owned(),
        (about, rule) => format!("{about} ({rule})"),
    };
    let arg = Arg::new(parameter.name)
        .long(parameter.name)
        .value_name("V")
        .allow_hyphen_values(true)
        .required(parameter.required)
        .help(help);
    let values = parameter.values();
    if values.is_empty() {
        arg
    } else {
        arg.value_parser(PossibleValuesParser::new(values))
    }
}

pub(crate) fn operations(format: Format) -> ExitCode {
    let rows: Vec<Value> = catalog::all()
        .map(|entry| {
            let it = entry.operation;
            serde_json::json!({
                "name": entry.name(), "id": it.id, "application": it.application.name(), "method": it.method.as_str(),
                "path": it.route, "scopes": it.scopes, "provenance": it.provenance.to_string(), "summary": it.summary,
            })
        })
        .collect();
    let columns = ["name", "method", "path", "summary"];
    table::print_rows(&rows, &columns, format);
    ExitCode::SUCCESS
}

pub(crate) async fn run(settings: Settings, matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let (name, matches) = matches.subcommand().unwrap_or(("", matches));
    let entry = catalog::all().find(|it| it.name() == name);
    let entry = entry.ok_or_else(|| Failure::usage(format!("there is no operation {name}")))?;
    let is_set = |name| matches.try_get_one::<bool>(name).ok().flatten() == Some(&true);
    if is_set("skeleton") {
        let skeleton = entry.skeleton().unwrap_or_default();
        output::put(format_args!("{skeleton:#}"));
        return Ok(ExitCode::SUCCESS);
    }
    let context = &Context::open(settings).await?;
    let values = entry.parameters().filter_map(|parameter| {
        let value = matches.get_one::<String>(parameter.name)?.clone();
        Some((parameter, value))
    });
    let values: Vec<_> = values.collect();
    entry.check(&values)?;
    let body = body(&entry, matches)?;
    let suite = context.suite()?;
    if entry.operation.secret_response {
        return token(context, &suite, body).await;
    }

    let mut call = entry.call(&suite, &values, body)?;
    if !entry.is_write() {
        let mut stop = Stop::listen()?;
        let Some(receipt) = stop.or(call.send()).await else {
            return Ok(stop.status());
        };
        table::print(&receipt?.into_response(), context.format());
        return Ok(ExitCode::SUCCESS);
    }
    let key = matches.try_get_one::<String>("key").ok().flatten();
    if let Some(key) = key {
        call = call.idempotency_key(key.as_str());
    }
    let command = call.prepare()?;
    if is_set("prepare") {
        let stored = serde_json::to_string(&command).map_err(std::io::Error::from)?;
        output::put(output::shown(&stored));
        return Ok(ExitCode::SUCCESS);
    }
    show(context, &suite, &entry, &command)?;
    if !is_set("yes") {
        if !is_at_terminal() {
            let failure =
                Failure::usage("a write without a terminal needs --yes; nothing was sent");
            return Err(failure);
        }
        confirm("Send it?")?;
    }
    write(context, &suite, &command, &entry, key.is_some()).await
}

/// Reads the body from a file or standard input, unchanged.
fn body(entry: &Entry, matches: &ArgMatches) -> Result<Option<RawJson>, Failure> {
    if !entry.operation.body {
        return Ok(None);
    }
    let Some(file) = matches.get_one::<String>("body") else {
        if entry.operation.optional_body {
            return Ok(None);
        }
        let hint = format!(
            "run `suite call {} --skeleton` to get a body to fill in",
            entry.name()
        );
        return Err(Failure::usage("--body is missing").with_hint(hint));
    };
    let problem = |error: &dyn std::fmt::Display| Failure::usage(format!("--body {file}: {error}"));
    let mut text = String::new();
    let read = if file == "-" {
        std::io::stdin()
            .take(MAX_BODY + 1)
            .read_to_string(&mut text)
    } else {
        let open = std::fs::File::open(file);
        open.and_then(|it| it.take(MAX_BODY + 1).read_to_string(&mut text))
    };
    read.map_err(|error| problem(&error))?;
    if text.len() as u64 > MAX_BODY {
        return Err(problem(&"it is larger than 16 MiB"));
    }
    let value: Value = serde_json::from_str(&text).map_err(|error| problem(&error))?;
    entry.check_body(&value)?;
    let raw: RawJson = text.trim().parse().map_err(|error| problem(&error))?;
    Ok(Some(raw))
}

fn show(
    context: &Context,
    suite: &Suite,
    entry: &Entry,
    command: &PreparedCommand,
) -> Result<(), Failure> {
    let app = entry.operation.application;
    let origin = with_client!(app, suite, |client| client.origin().to_owned());
    let client = context.variables().get("SUITE_CLIENT_ID");
    let key = command.idempotency_key().map(IdempotencyKey::as_str);
    let rows = [
        ("operation", entry.name()),
        ("installation", context.name().to_owned()),
        ("origin", origin),
        ("client ID", client.cloned().unwrap_or_default()),
        (
            "request",
            format!("{} {}", command.method(), command.path()),
        ),
        ("key", key.unwrap_or("none").to_owned()),
        ("body", format!("{} bytes", command.body().len())),
    ];
    for (name, value) in rows {
        note_always(format_args!("{name:<13} {}", output::escaped(&value)));
    }
    // `--quiet` keeps the body out of logs.
    if !context.is_quiet() {
        note_always(output::escaped(command.body()));
    }
    Ok(())
}

/// Whether a person can read messages and answer questions.
pub(crate) fn is_at_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question, and fails unless the person types yes.
pub(crate) fn confirm(question: &str) -> Result<(), Failure> {
    note_always(format_args!("{question} Type yes."));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == "yes" {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, "declined", "nothing was sent"))
}

/// Sends a command. If `may_be_sent` is true, an earlier attempt with the same key may have been applied, so a
/// rejection of this attempt doesn't prove that nothing was applied.
async fn write(
    context: &Context,
    suite: &Suite,
    command: &PreparedCommand,
    entry: &Entry,
    may_be_sent: bool,
) -> Result<ExitCode, Failure> {
    let app = entry.operation.application;
    let sending = with_client!(app, suite, |client| client.send_prepared(command));
    let key = command.idempotency_key().map(IdempotencyKey::as_str);
    let next_step = match key {
        Some(key) => format!(
            "it may have been applied; run the same command with --key {key}, which applies it once"
        ),
        None if command.is_replayable() => {
            "it may have been applied; run the same command with the same body again, which returns the first result"
                .to_owned()
        }
        None => "it may have been applied; look it up in the application before you run the command again".to_owned(),
    };
    let mut stop = Stop::listen()?;
    let failure = match stop.or(sending.send()).await {
        Some(Ok(receipt)) => {
            let (status, is_replay) = (receipt.http_status(), receipt.is_replay() == Some(true));
            let replay = if is_replay {
                ", the result of an earlier attempt"
            } else {
                ""
            };
            note(format_args!("status {status}{replay}"));
            table::print(&receipt.into_response(), context.format());
            let Some(error) = output::lost() else {
                return Ok(ExitCode::SUCCESS);
            };
            let message = format!("it was applied, but its result could not be written: {error}");
            let hint = "do not run the command again with another key";
            return Err(Failure::new(Exit::Unknown, "output", message)
                .unknown(key)
                .with_hint(hint));
        }
        // The key belongs to another body, so this body was not applied.
        Some(Err(error)) if error.is_idempotency_conflict() => return Err(error.into()),
        Some(Err(error)) if error.effect() != Effect::Unknown && !may_be_sent => {
            return Err(error.into());
        }
        Some(Err(error)) => Failure::from(error),
        None if suite.stats().attempts == 0 && !may_be_sent => {
            note("Stopped before the command was sent.");
            return Ok(stop.status());
        }
        None => Failure::new(Exit::Unknown, "stopped", "stopped by a signal"),
    };
    Err(failure.unknown(key).with_hint(next_step))
}

/// Requests a token with a form, and prints the response without the token.
async fn token(
    context: &Context,
    suite: &Suite,
    body: Option<RawJson>,
) -> Result<ExitCode, Failure> {
    let body = body
        .map(|it| it.to_value())
        .transpose()?
        .unwrap_or_default();
    // Empty fields of a skeleton count as absent.
    let field = |name: &str| {
        let text = body[name].as_str().filter(|it| !it.is_empty());
        text.map(str::to_owned)
    };
    let variable = |name: &str| context.variables().get(name).cloned();
    let mut form = TokenForm::new();
    if let Some(id) = field("client_id").or_else(|| variable("SUITE_CLIENT_ID")) {
        form = form.client_id(id);
    }
    if let Some(secret) = field("client_secret").or_else(|| variable("SUITE_CLIENT_SECRET")) {
        form = form.client_secret(secret);
    }
    if let Some(audience) = field("audience") {
        form = form.audience(audience);
    }
    if let Some(scope) = field("scope") {
        form = form.scope(scope);
    }
    let platform = sdk_platform::Client::new(suite)?;
    let response = platform.oauth().token(&form).await?;
    let shown = serde_json::json!({
        "access_token": response.access_token.as_ref().map(|_| "[redacted]"),
        "token_type": response.token_type, "expires_in": response.expires_in, "scope": response.scope,
    });
    table::print_value(&RawJson::from(shown), context.format());
    Ok(ExitCode::SUCCESS)
}
