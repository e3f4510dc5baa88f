//! Random changes of the store's rows.

use std::collections::BTreeMap;
use std::sync::Mutex;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use sdk_core::{IdempotencyKey, PreparedCommand};
use sdk_reference_server::{Operation, ReferenceServer, Transport};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Stage;
use super::attacks::{HOUR, SECRET, forge, now, run, settle};
use crate::programs::output;
use crate::support::{Clients as _, builder_for, is_long};

/// Returns the number of cases of tests with random cases.
fn cases() -> usize {
    let cases = std::env::var("SUITE_MCP_CASES").ok();
    let default = if is_long() { 10_000 } else { 150 };
    cases.map_or(default, |it| it.parse().unwrap())
}

/// Returns the seed of random cases. A failed test names it.
fn seed() -> u64 {
    let seed = std::env::var("SUITE_MCP_SEED").ok();
    seed.map_or_else(|| fastrand::u64(..), |it| it.parse().unwrap())
}

/// A proposal, and whether its change permits to send it.
struct Case {
    command: PreparedCommand,
    digest: String,
    expected: Expected,
    about: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    Nothing,
    /// The change doesn't concern the approved bytes, but it may prevent their sending.
    AtMostOnce,
    Once,
}

/// Returns proposals of events, as the agent's process prepares them.
fn proposals(server: &ReferenceServer, count: usize) -> Vec<Case> {
    let calendar = builder_for(server).calendar();
    let (origin, client) = (calendar.origin().to_owned(), server.client_id());
    let prepared = |title: String| {
        let call = calendar.events().command(&crate::samples::event(&title));
        let command = call.clone().prepare().unwrap();
        let parts = [
            &origin,
            client,
            command.operation(),
            command.path(),
            command.body(),
            "",
        ];
        let key = IdempotencyKey::derive("suite-mcp/v1", parts);
        let command = call.idempotency_key(key).prepare().unwrap();
        Case {
            digest: command.approval_digest(&origin, client),
            command,
            expected: Expected::Once,
            about: title,
        }
    };
    (0..count).map(|it| prepared(it.to_string())).collect()
}

/// Returns the stored form with another value, and with a digest of the form that matches.
fn edited(command: &PreparedCommand, field: &str, value: Value) -> String {
    let mut form = serde_json::to_value(command).unwrap();
    form[field] = value;
    let text = |it: &Value| it.as_str().map(str::to_owned);
    let fields = "application operation method audience path idempotencyKey".split(' ');
    let mut parts: Vec<_> = fields.map(|it| text(&form[it])).collect();
    for header in form["headers"].as_array().into_iter().flatten() {
        parts.extend([text(&header[0]), text(&header[1])]);
    }
    parts.extend([None, text(&form["body"])]);
    let mut bytes = 2_u32.to_be_bytes().to_vec();
    for part in parts {
        bytes.extend(
            part.as_ref()
                .map_or([0xff; 8], |it| (it.len() as u64).to_be_bytes()),
        );
        bytes.extend(part.unwrap_or_default().bytes());
    }
    bytes.extend(
        form["preparedAt"]
            .as_u64()
            .unwrap_or(u64::MAX)
            .to_be_bytes(),
    );
    let flags = ["sent", "replayShown", "withoutToken"];
    bytes.extend(flags.map(|it| u8::from(form[it] == true)));
    bytes.push(form["replayExact"].as_bool().map_or(2, u8::from));
    if field != "digest" {
        let digest = Sha256::digest(&bytes);
        let digest: Vec<_> = digest.iter().map(|it| format!("{it:02x}")).collect();
        form["digest"] = digest.concat().into();
    }
    form.to_string()
}

/// Returns a changed form, and whether it is another request.
fn other_form(case: &Case, other: &Case, random: &mut fastrand::Rng) -> (String, bool) {
    let command = &case.command;
    let form = serde_json::to_string(command).unwrap();
    let body = json!(other.command.body());
    let edits = [
        ("body", body.clone()),
        ("body", json!("{}")),
        ("method", json!("DELETE")),
        ("path", json!("/calendar/v1/hold-commands")),
        ("path", json!(format!("{}?a=b", command.path()))),
        ("operation", json!("manageHold")),
        ("application", json!("crm")),
        ("audience", json!("crm")),
        ("audience", Value::Null),
        ("idempotencyKey", json!("another-key")),
        ("idempotencyKey", Value::Null),
        ("headers", json!([["x-team", "blue"]])),
        ("replayShown", json!(true)),
        ("withoutToken", json!(true)),
        ("replayExact", json!(true)),
        ("digest", json!("0")),
        ("preparedAt", json!(1)),
        ("sent", json!(true)),
        ("preparedAt", json!(u64::MAX)),
        ("version", json!(1)),
        ("version", json!(3)),
    ];
    match random.usize(0..edits.len() + 3) {
        0 => (format!("{form} "), false),
        1 => (form.replacen('{', &format!("{{\"body\":{body},"), 1), true),
        2 => (serde_json::to_string(&other.command).unwrap(), true),
        it => {
            let (field, value) = &edits[it - 3];
            let is_same = serde_json::to_value(command).unwrap()[*field] == *value;
            let is_other = !is_same && !["preparedAt", "sent", "version"].contains(field);
            (edited(command, field, value.clone()), is_other)
        }
    }
}

/// Changes a column of a row, and returns whether the approved bytes or their approval differ. `None` if the table's
/// schema rejects the value, or the column has it.
fn tamper(
    store: &Connection,
    (table, column): (&str, &str),
    [case, other]: [&Case; 2],
    random: &mut fastrand::Rng,
) -> (Option<bool>, String) {
    let is_outbox = table == "sdk_outbox";
    let id = if is_outbox { "reference" } else { "digest" };
    let read = format!("SELECT {column} FROM {table} WHERE {id} = ?1");
    let read = |digest: &str| store.query_row(&read, [digest], |row| row.get(0));
    let Ok(own) = read(&case.digest) else {
        return (None, "it has no row".to_owned());
    };
    let (mut is_other, mut is_text) = (true, false);
    let value = match random.u8(0..14) {
        0 => Cell::Null,
        1 => Cell::Integer(*random.choice(&[0, 1, 2, 4, 5, 99]).unwrap()),
        2 => Cell::Integer(
            *random
                .choice(&[-1, i64::MIN, now(), now() + 2 * HOUR])
                .unwrap(),
        ),
        3 => Cell::Integer(i64::MAX - random.i64(1..1_000_000)),
        4 => Cell::Text(String::new()),
        5 => Cell::Text("x".repeat(50_000)),
        6 => Cell::Blob(vec![7; 32]),
        7 => Cell::Real(1.5),
        8 => {
            is_text = true;
            Cell::Blob(b"a\xff\0\xfe".to_vec())
        }
        9 => read(&other.digest).unwrap_or(Cell::Null),
        _ if column == "command" => {
            let (form, is_other_form) = other_form(case, other, random);
            is_other = is_other_form;
            Cell::Text(form)
        }
        10 => Cell::Text(
            random
                .choice(["approved", "rejected", "crm"])
                .unwrap()
                .to_string(),
        ),
        _ => match own {
            Cell::Null => Cell::Integer(1),
            Cell::Integer(it) => Cell::Integer(it.saturating_add(1)),
            Cell::Text(it) => Cell::Text(it.to_ascii_uppercase()),
            Cell::Blob(mut it) => {
                it[0] ^= 1;
                Cell::Blob(it)
            }
            Cell::Real(it) => Cell::Real(-it),
        },
    };
    let value_shown = format!("{value:.60?}");
    let set = if is_text { "CAST(?2 AS TEXT)" } else { "?2" };
    let update =
        format!("UPDATE {table} SET {column} = {set} WHERE {id} = ?1 AND {column} IS NOT {set}");
    // Another changed row may refer to the same proposal.
    let changed = store
        .execute(&update, params![case.digest, value])
        .is_ok_and(|rows| rows > 0);
    let decisive = [
        "digest",
        "decision",
        "signature",
        "expires",
        "reference",
        "application",
        "installation",
    ];
    let is_decisive = decisive.contains(&column) || (column == "command" && is_outbox && is_other);
    (
        changed.then_some(is_decisive),
        format!("{table}.{column} = {value_shown:.80}"),
    )
}

/// Returns the columns of the table.
fn columns(store: &Connection, table: &'static str) -> Vec<(&'static str, String)> {
    let columns = format!("SELECT name FROM pragma_table_info('{table}')");
    let mut columns = store.prepare(&columns).unwrap();
    let columns = columns
        .query_map([], |row| Ok((table, row.get(0)?)))
        .unwrap();
    columns.map(Result::unwrap).collect()
}

/// Checks that the server received exactly the approved bytes of the expected cases, each applied at most once.
fn check(server: &ReferenceServer, cases: &[Case]) {
    let mut sent: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let writes = server.requests().into_iter();
    let writes =
        writes.filter(|it| it.method != "GET" && it.operation != Some(Operation::ExchangeToken));
    for write in writes {
        let key = write.idempotency_key().unwrap_or_default().to_owned();
        sent.entry(key).or_default().push(write.body().to_vec());
    }
    assert_eq!(
        server.commits(Operation::SubmitEventCommand),
        sent.len() as u64
    );
    for case in cases {
        let key = case.command.idempotency_key().unwrap().as_str();
        let (sent, about) = (sent.remove(key), &case.about);
        match case.expected {
            Expected::Nothing => assert_eq!(sent, None, "{about}"),
            Expected::Once => assert!(sent.is_some(), "{about}"),
            Expected::AtMostOnce => {}
        }
        let mut sent = sent.into_iter().flatten();
        assert!(
            sent.all(|it| it == case.command.body().as_bytes()),
            "{about}"
        );
    }
    assert!(sent.is_empty(), "{sent:?}");
}

/// Starts a server that records all requests, and a store without proposals.
async fn recording() -> Stage {
    let server = ReferenceServer::builder().transport(Transport::Hyper);
    let server = server.recorded_requests(2 * cases() + 1_000).start().await;
    let stage = Stage {
        server,
        ..Stage::new().await
    };
    stage.register();
    stage
}

fn insert(store: &Connection, case: &Case) {
    let insert =
        "INSERT INTO suite_proposal (digest, command, created, expires) VALUES (?1, ?2, ?3, ?4)";
    let command = serde_json::to_string(&case.command).unwrap();
    let values = params![case.digest, command, now(), now() + HOUR];
    store.execute(insert, values).unwrap();
}

#[tokio::test]
async fn a_changed_row_never_sends_other_bytes_than_a_person_approved() {
    let seed = seed();
    let (stage, mut random) = (recording().await, fastrand::Rng::with_seed(seed));
    let mut cases = proposals(&stage.server, cases());
    let mut database = stage.database();
    let store = database.transaction().unwrap();
    for (index, case) in cases.iter_mut().enumerate() {
        insert(&store, case);
        let expires = now() + HOUR;
        match index % 4 {
            // A pending proposal.
            0 => case.expected = Expected::Nothing,
            // A pending proposal with a forged command in the outbox.
            1 => {
                forge(&store, &case.digest, expires, None);
                let undecided = "UPDATE suite_proposal SET decision = NULL WHERE digest = ?1";
                store.execute(undecided, [&case.digest]).unwrap();
                case.expected = Expected::Nothing;
            }
            _ => forge(&store, &case.digest, expires, Some(SECRET)),
        }
    }
    let all = [
        columns(&store, "suite_proposal"),
        columns(&store, "sdk_outbox"),
    ]
    .concat();
    for index in (0..cases.len()).filter(|it| it % 16 != 15) {
        let (table, column) = &all[index / 2 % all.len()];
        let pair = [&cases[index], &cases[(index + 2) % cases.len()]];
        let (changed, about) = tamper(&store, (table, column), pair, &mut random);
        let case = &mut cases[index];
        case.about = format!("seed {seed}, case {index}, {:?}: {about}", case.expected);
        match changed.filter(|_| case.expected == Expected::Once) {
            Some(true) => case.expected = Expected::Nothing,
            Some(false) => case.expected = Expected::AtMostOnce,
            None => {}
        }
    }
    store.commit().unwrap();
    settle(&stage, run(&stage, Some(SECRET))).await;
    check(&stage.server, &cases);
}

#[tokio::test]
async fn a_person_approves_no_proposal_whose_row_differs_from_its_digest() {
    let seed = seed();
    let (stage, mut random) = (recording().await, fastrand::Rng::with_seed(seed));
    stage
        .database()
        .execute("DELETE FROM suite_proposal", [])
        .unwrap();
    let mut all = proposals(&stage.server, (cases() / 20).max(26));
    let store = stage.database();
    for case in &all {
        insert(&store, case);
    }
    let names = columns(&store, "suite_proposal");
    for index in 0..all.len() {
        let (table, column) = &names[index % names.len()];
        let pair = [&all[index], &all[(index + 1) % all.len()]];
        let (_, about) = tamper(&store, (table, column), pair, &mut random);
        all[index].about = format!("seed {seed}, case {index}: {about}");
        all[index].expected = Expected::AtMostOnce;
    }
    let (digests, approved) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(case) = digests.lock().unwrap().next() else {
                        return;
                    };
                    let line = format!("mcp approvals approve {} --by ann", case.digest);
                    let mut approve = stage.command(&line);
                    let ended = output(approve.env("SUITE_APPROVAL_SECRET", SECRET));
                    approved.lock().unwrap().push((&case.digest, ended));
                }
            });
        }
    });
    let approved = approved.into_inner().unwrap();
    let ended: BTreeMap<String, _> = approved
        .into_iter()
        .map(|(it, ended)| (it.clone(), ended))
        .collect();
    for case in &mut all {
        let ended = &ended[&case.digest];
        let messages = String::from_utf8_lossy(&ended.stderr);
        assert!(!messages.contains("panicked"), "{}: {messages}", case.about);
        case.expected = if ended.status.success() {
            Expected::Once
        } else {
            Expected::Nothing
        };
    }
    check(&stage.server, &all);
    assert!(
        all.iter().any(|it| it.expected == Expected::Once),
        "seed {seed}"
    );
}
