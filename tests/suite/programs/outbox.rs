//! `suite outbox`: an operator's view of the commands that a service stored.

use std::process::Stdio;

use sdk_calendar::types::EventCommand;
use sdk_core::Suite;
use sdk_outbox::sqlite::{Outbox, enqueue};
use sdk_outbox::{Entry, State};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::{Value, json};

use super::call::{command, failure, printed, server};
use crate::programs::{Folder, output};
use crate::support::{assert_says, until};

/// Stores a command for each title, like a service.
async fn stored(server: &ReferenceServer, folder: &Folder, titles: &[&str]) -> Outbox {
    let suite = Suite::builder().variables(server.environment());
    let calendar = sdk_calendar::Client::new(&suite.build().unwrap()).unwrap();
    let path = folder.file("service.db");
    let outbox = Outbox::open(&path).await.unwrap();
    let mut database = rusqlite::Connection::open(&path).unwrap();
    let tx = database.transaction().unwrap();
    for title in titles {
        let event = EventCommand::create()
            .collection_reference("team")
            .title(*title)
            .starts_at("2026-12-01T09:00:00Z")
            .ends_at("2026-12-01T10:00:00Z")
            .timezone("UTC");
        let prepared = calendar.events().command(&event).prepare().unwrap();
        enqueue(&tx, &Entry::new(&prepared).reference(title)).unwrap();
    }
    tx.commit().unwrap();
    outbox
}

#[cfg(unix)]
#[tokio::test]
async fn an_operator_sends_resolves_and_lists_commands() {
    let server = server(|it| it).await;
    let folder = Folder::new("outbox");
    let outbox = stored(&server, &folder, &["rejected", "dropped", "sent"]).await;
    let store = folder.file("service.db");
    let run = |line: &str| output(command(&server, &format!("outbox {line} --store")).arg(&store));

    // Two commands are rejected and wait for a person.
    for title in ["rejected", "dropped"] {
        let fault = server.fault(Operation::SubmitEventCommand);
        fault.when_member("/title", title).times(1).status(422);
    }
    let mut worker = command(&server, "outbox run --store");
    let worker = worker.arg(&store).stderr(Stdio::piped()).spawn().unwrap();
    // A stopped worker first settles the commands in flight.
    until(|| server.attempts(Operation::SubmitEventCommand) == 3).await;
    let stop = std::process::Command::new("kill")
        .arg(worker.id().to_string())
        .status();
    assert!(stop.unwrap().success());
    printed(&worker.wait_with_output().unwrap());
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);

    let status = run("status");
    assert_eq!(status.status.code(), Some(4), "a person must decide");
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let counts = json!([
        {"state": "parked", "reason": "refused", "commands": 2}, {"state": "done", "reason": null, "commands": 1},
    ]);
    assert_eq!(status["counts"], counts);
    let list: Value = serde_json::from_str(&printed(&run("list"))).unwrap();
    let ids: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].to_string())
        .collect();
    assert_eq!(list[1]["reference"], "dropped");
    assert_says(list[0]["note"].as_str().unwrap(), &["422"]);
    let shown: Value = serde_json::from_str(&printed(&run(&format!("show {}", ids[0])))).unwrap();
    let requests = server.requests_for(Operation::SubmitEventCommand);
    let request = requests
        .iter()
        .find(|it| shown["key"].as_str() == it.idempotency_key());
    let request = request.unwrap();
    assert_eq!(shown["body"].as_str().unwrap().as_bytes(), request.body());

    printed(&run(&format!("retry {} --by ann", ids[0])));
    printed(&run(&format!("drop {} --by ann --why obsolete", ids[1])));
    let done = printed(&run("list --state dropped"));
    assert_says(&done, &["\"reference\":\"dropped\"", "obsolete"]);
    let status = outbox.status().await.unwrap();
    assert_eq!(
        (status.count(State::Ready), status.count(State::Parked)),
        (1, 0)
    );
    printed(&run("status"));

    let again = failure(&run(&format!("retry {} --by ann", ids[1])), 1);
    assert_says(again["message"].as_str().unwrap(), &["is not parked"]);
    failure(&run("show 999"), 1);
    let mut misspelled = command(&server, "outbox status --store");
    failure(&output(misspelled.arg(folder.file("servise.db"))), 2);
    // The program creates no tables in another program's database, and prints no address with a password.
    let other = folder.file("other.db");
    let tables = rusqlite::Connection::open(&other).unwrap();
    tables
        .execute_batch("CREATE TABLE users (name TEXT)")
        .unwrap();
    let before = std::fs::read(&other).unwrap();
    let mut status = command(&server, "outbox status --store");
    let failed = failure(&output(status.arg(&other)), 1);
    assert_says(
        failed["message"].as_str().unwrap(),
        &["the database contains no outbox"],
    );
    assert_eq!(std::fs::read(&other).unwrap(), before);
    for store in ["mysql://u:hunter2@h/db", "u:hunter2@h/db"] {
        let mut secret = command(&server, &format!("outbox status --store {store}"));
        let failed = failure(&output(&mut secret), 2);
        assert!(!failed.to_string().contains("hunter2"), "{failed}");
    }
    // A service's commands belong to its installation.
    let mut demo = command(&server, "--demo outbox run --store");
    failure(&output(demo.arg(&store)), 2);
    let mut prefixed = command(&server, "--installation acme outbox status");
    prefixed
        .env("SUITE_OUTBOX", &other)
        .env("ACME_SUITE_OUTBOX", &store);
    printed(&output(&mut prefixed));
    let mut stranger = command(&server, "outbox run --store");
    stranger.arg(&store).env("SUITE_CLIENT_SECRET", "another");
    failure(&output(&mut stranger), 3);
}

/// Runs with a PostgreSQL: `bash .ci/postgres cargo test --test suite`.
#[tokio::test]
async fn a_store_can_be_on_postgresql() {
    let Ok(store) = std::env::var("OUTBOX_DATABASE") else {
        return;
    };
    let server = server(|it| it).await;
    let config = store.parse().unwrap();
    let service = sdk_outbox::postgres::Outbox::open(config, tokio_postgres::NoTls);
    service.await.unwrap();
    let mut list = command(&server, "outbox list --state done");
    let list = printed(&output(list.env("SUITE_OUTBOX", &store)));
    assert!(list.starts_with('['), "{list}");
    // No database listens there, and the password is not printed.
    let mut down = command(
        &server,
        "outbox status --store postgres://a:hidden@127.0.0.1:1/x",
    );
    let failed = failure(&output(&mut down), 6);
    assert!(!failed.to_string().contains("hidden"), "{failed}");
}
