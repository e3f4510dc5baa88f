//! `suite call`: every operation, writes with confirmation, and exit statuses.

use std::fs;
use std::process::{Command, Output};

use sdk_core::App;
use sdk_reference_server::{Builder, Operation, ReferenceServer, Transport};
use serde_json::{Value, json};

use crate::programs::{Folder, output, suite};
use crate::support::{assert_says, until};

pub(super) async fn server(change: impl FnOnce(Builder) -> Builder) -> ReferenceServer {
    change(ReferenceServer::builder().transport(Transport::Hyper))
        .start()
        .await
}

pub(super) fn command(server: &ReferenceServer, line: &str) -> Command {
    let mut command = suite();
    command.args(line.split_whitespace());
    command.envs(server.environment());
    command
}

fn run(server: &ReferenceServer, line: &str) -> Output {
    output(&mut command(server, line))
}

/// Checks the exit status and returns the error message, which is the last line of the messages.
#[track_caller]
pub(super) fn failure(output: &Output, status: i32) -> Value {
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{messages}");
    serde_json::from_str(messages.lines().last().unwrap()).unwrap()
}

/// Checks that the command succeeded and returns its output.
#[track_caller]
pub(super) fn printed(output: &Output) -> String {
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[tokio::test]
async fn every_operation_can_be_called_by_its_name() {
    let server = server(|it| it).await;
    let folder = Folder::new("call");
    let all = printed(&run(&server, "operations --output jsonl"));
    let (app, kind, record) = server.sample_publication();
    for line in all.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["name"].as_str().unwrap();
        if row["method"] == "POST" {
            // The body skeleton passes the local checks of its own operation.
            let file = folder.file("body.json");
            let skeleton = printed(&run(&server, &format!("call {name} --skeleton")));
            fs::write(&file, skeleton).unwrap();
            let prepare = if name == "oauth.token" {
                ""
            } else {
                "--prepare"
            };
            let line = format!("call {name} --body {} {prepare}", file.display());
            printed(&run(&server, &line));
            continue;
        }
        let reference = match name {
            "people.get" | "people.timeline" => server.sample_person(),
            "organizations.get" => server.sample_organization(),
            "opportunities.get" => server.sample_opportunity(),
            _ => server.sample_intake_submission(),
        };
        let parameters = match name {
            "publications.get" => {
                format!("--appId {app} --resourceType {kind} --sourceRecordId {record}")
            }
            "search.query" => "--q an".to_owned(),
            _ if row["path"].as_str().unwrap().contains("{reference}") => {
                format!("--reference {reference}")
            }
            _ => String::new(),
        };
        let body = printed(&run(&server, &format!("call {name} {parameters}")));
        serde_json::from_str::<Value>(&body).unwrap();
        let id = row["id"].as_str().unwrap();
        assert_eq!(server.attempts(id), 1, "{name}");
    }
    assert_eq!(all.lines().count(), 38);
    for app in App::all() {
        let column = format!("\"application\":\"{app}\"");
        assert!(all.contains(&column), "{app} has no client in the program");
    }
    let writes = server.requests();
    let writes = writes.iter().filter(|it| it.method != "GET");
    let exchanges = server.requests_for(Operation::ExchangeToken).len();
    assert_eq!(writes.count(), exchanges, "nothing else was sent");
}

const EVENT: &str = r#"{"operation": "create", "collectionReference": "team", "title": "Über\u202e uns",
  "startsAt": "2026-12-01T09:00:00Z", "endsAt": "2026-12-01T10:00:00Z", "timezone": "UTC", "big": 12345678901234567890123}"#;

/// Writes the body of an event to a file.
fn event(folder: &Folder) -> String {
    let file = folder.file("event.json");
    fs::write(&file, EVENT).unwrap();
    format!("call events.command --body {}", file.display())
}

#[tokio::test]
async fn a_write_prints_the_exact_bytes_and_needs_confirmation() {
    let server = server(|it| it).await;
    let folder = Folder::new("call-write");
    let line = event(&folder);

    let rejected = failure(&run(&server, &line), 2);
    assert_says(
        rejected["message"].as_str().unwrap(),
        &["--yes", "nothing was sent"],
    );
    assert!(server.requests().is_empty());

    let sent = run(&server, &format!("{line} --yes"));
    let result: Value = serde_json::from_str(&printed(&sent)).unwrap();
    assert_eq!(result["replayed"], false);
    let request = &server.requests_for(Operation::SubmitEventCommand)[0];
    assert_eq!(request.body(), EVENT.as_bytes());
    let shown = String::from_utf8(sent.stderr).unwrap();
    let key = request.idempotency_key().unwrap();
    assert_says(
        &shown,
        &[EVENT, key, &server.calendar_url(), "reference-client"],
    );

    // The same key, from another process.
    let again = run(&server, &format!("{line} --yes --key {key}"));
    let again: Value = serde_json::from_str(&printed(&again)).unwrap();
    assert_eq!(again["replayed"], true);
    // The same key with another body: this command is known not to have been applied.
    fs::write(folder.file("event.json"), EVENT.replace("Über", "Other")).unwrap();
    let other = failure(&run(&server, &format!("{line} --yes --key {key}")), 1);
    assert_eq!(other["effect"], "refused");
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn an_unknown_effect_prints_the_key_and_the_next_step() {
    let server = server(|it| it).await;
    let folder = Folder::new("call-unknown");
    let line = format!("{} --yes", event(&folder));
    let lost = server.fault(Operation::SubmitEventCommand).lose_reply();

    let failed = failure(&run(&server, &line), 5);
    assert_eq!(failed["effect"], "unknown");
    let key = failed["key"].as_str().unwrap();
    assert_says(failed["hint"].as_str().unwrap(), &[&format!("--key {key}")]);
    lost.remove();
    // A rejection of the second attempt doesn't apply to the first attempt.
    let rejected = server.fault(Operation::SubmitEventCommand).status(403);
    let line = format!("{line} --key {key}");
    let failed = failure(&run(&server, &line), 5);
    assert_eq!(
        (&failed["effect"], &failed["key"]),
        (&json!("unknown"), &json!(key))
    );
    rejected.remove();
    printed(&run(&server, &line));
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);

    // A CRM command has no key, but the contract documents that it can be repeated. A name-only command has neither.
    for (name, operation, hint) in [
        (
            "commands.submit",
            Operation::SubmitCommand,
            "returns the first result",
        ),
        (
            "counterparties.create",
            Operation::CreateFinancialCounterparty,
            "look it up",
        ),
    ] {
        server.fault(operation).lose_reply();
        let file = folder.file("command.json");
        fs::write(&file, r#"{"type": "task.complete", "payload": {}}"#).unwrap();
        let line = format!("call {name} --yes --body {}", file.display());
        let failed = failure(&run(&server, &line), 5);
        assert_eq!(failed["key"], Value::Null);
        assert_says(failed["hint"].as_str().unwrap(), &[hint]);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_write_whose_output_is_lost_on_a_full_disk_is_reported_as_applied() {
    let server = server(|it| it).await;
    let folder = Folder::new("call-full");
    let mut full = command(&server, &format!("{} --yes", event(&folder)));
    let disk = fs::File::options().write(true).open("/dev/full").unwrap();
    let failed = failure(&full.stdout(disk).output().unwrap(), 5);
    assert_says(failed["message"].as_str().unwrap(), &["it was applied"]);
    let request = server.requests_for(Operation::SubmitEventCommand)[0].clone();
    assert_eq!(failed["key"].as_str(), request.idempotency_key());
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_during_a_write_prints_its_key() {
    let server = server(|it| it).await;
    let folder = Folder::new("call-stopped");
    server.fault(Operation::SubmitEventCommand).stall();
    let mut child = command(&server, &format!("{} --yes", event(&folder)));
    child.stdout(std::process::Stdio::piped());
    let child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    until(|| server.attempts(Operation::SubmitEventCommand) == 1).await;
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let failed = failure(&child.wait_with_output().unwrap(), 5);
    let key = server.requests_for(Operation::SubmitEventCommand)[0].clone();
    assert_eq!(failed["key"].as_str(), key.idempotency_key());
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_before_the_first_attempt_means_not_sent() {
    let server = server(|it| it).await;
    let folder = Folder::new("call-early");
    server.fault(Operation::ExchangeToken).stall();
    let mut child = command(&server, &format!("{} --yes", event(&folder)));
    let child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    until(|| server.attempts(Operation::ExchangeToken) == 1).await;
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert_eq!(server.attempts(Operation::SubmitEventCommand), 0);
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_read_completely() {
    let server = server(|it| it).await;
    let folder = Folder::new("call-large");
    let file = folder.file("large.json");
    fs::write(&file, vec![b' '; (16 << 20) + 1]).unwrap();
    let line = format!("call events.command --yes --body {}", file.display());
    let failed = failure(&run(&server, &line), 2);
    assert_says(failed["message"].as_str().unwrap(), &["larger than 16 MiB"]);
    let mut secret = command(&server, "call tasks.list");
    secret.env_remove("SUITE_CLIENT_SECRET");
    secret.env("SUITE_CLIENT_SECRET_FILE", &file);
    let failed = failure(&output(&mut secret), 3);
    assert_says(failed["message"].as_str().unwrap(), &["larger than 64 KiB"]);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn the_exit_status_says_who_must_act() {
    let server = server(|it| it).await;
    for (line, status, kind) in [
        ("call people.list --limit 51", 2, "usage"),
        ("call people.list --q a", 2, "usage"),
        ("call intake.list --status received --state all", 2, "usage"),
        ("call people.get --reference PER-1", 2, "usage"),
        (
            "call people.get --reference PER-000000000000",
            1,
            "not_found",
        ),
        (
            "call funnel.get --from 2026-02-01T00:00:00Z --to 2026-01-01T00:00:00Z",
            1,
            "rejected",
        ),
    ] {
        let failed = failure(&run(&server, line), status);
        assert_eq!(failed["kind"], kind, "{line}: {failed}");
    }
    server.fault(Operation::ListTasks).status(503);
    let failed = failure(&run(&server, "call tasks.list"), 6);
    assert_eq!(
        (&failed["status"], &failed["kind"]),
        (&json!(503), &json!("unavailable"))
    );
    assert!(
        failed["requestId"].is_string() && failed["hint"].is_string(),
        "{failed}"
    );
    // A login page answers at the address of the token endpoint.
    let portal = server.fault(Operation::ExchangeToken);
    let portal = portal.body("<html></html>", "text/html");
    let failed = failure(&run(&server, "call people.list"), 3);
    assert_eq!(failed["kind"], "token_unavailable");
    portal.remove();
    let mut wrong = command(&server, "call tasks.list");
    let failed = failure(&output(wrong.env("SUITE_CLIENT_SECRET", "another")), 3);
    assert!(!failed.to_string().contains("another"), "{failed}");
}

#[tokio::test]
async fn an_installation_reads_only_its_own_variables() {
    let server = server(|it| it).await;
    let line = "call people.list --limit 1 --installation acme-eu";
    // The default installation is complete, and must not replace missing variables of another installation.
    let mut half = command(&server, line);
    half.env("ACME_EU_SUITE_CLIENT_ID", "reference-client");
    let failed = failure(&output(&mut half), 3);
    let message = failed["message"].as_str().unwrap();
    assert_says(
        message,
        &["ACME_EU_SUITE_CORE_URL", "ACME_EU_SUITE_CLIENT_SECRET"],
    );
    assert!(server.requests().is_empty());

    let mut complete = suite();
    complete.args(line.split(' '));
    let folder = Folder::new("call-secret");
    let secret = folder.file("secret");
    fs::write(&secret, format!("{}\n", server.client_secret())).unwrap();
    for (name, value) in server.environment() {
        if name == "SUITE_CLIENT_SECRET" {
            complete.env("ACME_EU_SUITE_CLIENT_SECRET_FILE", &secret);
        } else {
            complete.env(format!("ACME_EU_{name}"), value);
        }
    }
    printed(&output(&mut complete));
}

#[tokio::test]
async fn a_result_is_a_table_json_or_lines() {
    let server = server(|it| it).await;
    let line = "call people.list --limit 2 --output";
    let json: Value =
        serde_json::from_str(&printed(&run(&server, &format!("{line} json")))).unwrap();
    let lines = printed(&run(&server, &format!("{line} jsonl")));
    let lines: Vec<Value> = lines
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(json["items"], json!(lines));
    let table = printed(&run(&server, &format!("{line} table")));
    let reference = lines[1]["publicReference"].as_str().unwrap();
    assert_says(
        &table,
        &["publicReference", "displayName", reference, "nextCursor"],
    );
    // The digits of any number are preserved, and a token is never printed.
    let body = r#"{"amount": {"minorUnits": 123456789012345678901234567890}}"#;
    server
        .fault(Operation::GetAccountingOverview)
        .body(body, "application/json");
    assert_eq!(printed(&run(&server, "call overview.get")).trim_end(), body);
    let folder = Folder::new("call-token");
    let file = folder.file("form.json");
    fs::write(&file, r#"{"grant_type": "client_credentials"}"#).unwrap();
    let token = printed(&run(
        &server,
        &format!("call oauth.token --body {}", file.display()),
    ));
    assert_says(&token, &["\"access_token\":\"[redacted]\"", "Bearer"]);
}

#[tokio::test]
async fn the_program_serves_and_demonstrates_without_an_account() {
    let page = printed(&output(suite().args([
        "--demo",
        "--quiet",
        "call",
        "people.list",
    ])));
    assert_eq!(
        serde_json::from_str::<Value>(&page).unwrap()["items"]
            .as_array()
            .unwrap()
            .len(),
        25
    );
    let version = printed(&output(suite().args(["serve", "--version"])));
    assert_says(&version, &["suite serve "]);
    let unknown = output(suite().args(["serve", "--nothing"]));
    assert_eq!(unknown.status.code(), Some(2));
}
