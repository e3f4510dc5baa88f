//! Forged approvals, replaced rows, and approvers at the same time.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rusqlite::{Connection, params};
use sdk_reference_server::Operation;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::approvals::{joined, not_approved, propose, show, started, statuses};
use super::{EVENT, Running, Stage, event};
use crate::programs::call::{failure, printed};
use crate::support::{assert_says, until};

pub(super) const SECRET: &str = "a secret of the approver";
pub(super) const HOUR: i64 = 3_600_000;

pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Computes HMAC-SHA256 a second time (RFC 2104).
fn sign(secret: &str, digest: &str, expires: i64) -> Vec<u8> {
    let mut key = secret.as_bytes().to_vec();
    key.resize(64, 0);
    let padded = |with: u8| key.iter().map(|it| it ^ with).collect::<Vec<_>>();
    let signed = format!("suite-approval-signature/v1\n{digest}\n{expires}");
    let inner = Sha256::digest([&padded(0x36), signed.as_bytes()].concat());
    Sha256::digest([&padded(0x5c), &inner[..]].concat()).to_vec()
}

/// Approves a proposal by changing the store, like an attacker without the program.
pub(super) fn forge(store: &Connection, digest: &str, expires: i64, key: Option<&str>) {
    let signature = key.map(|it| sign(it, digest, expires));
    let decide = "UPDATE suite_proposal SET decision = 'approved', decided = 1, expires = ?2, signature = ?3 WHERE digest = ?1";
    let decided = store.execute(decide, params![digest, expires, signature]);
    assert_eq!(decided.unwrap(), 1);
    let enqueue = "INSERT INTO sdk_outbox (application, reference, command)
        SELECT command ->> 'application', digest, command FROM suite_proposal WHERE digest = ?1";
    assert_eq!(store.execute(enqueue, [digest]).unwrap(), 1);
    let link = "UPDATE suite_proposal SET outbox_id = ?2 WHERE digest = ?1";
    store
        .execute(link, params![digest, store.last_insert_rowid()])
        .unwrap();
}

/// Counts commands in the outbox.
pub(super) fn count(store: &Connection, rows: &str) -> i64 {
    let count = format!("SELECT count(*) FROM sdk_outbox WHERE {rows}");
    store.query_row(&count, [], |row| row.get(0)).unwrap()
}

/// Runs this `approvals run` until it can send no more commands, and returns its messages.
pub(super) async fn settle(stage: &Stage, mut run: Command) -> String {
    let is_acme = run.get_args().any(|it| it == "acme");
    let label = if is_acme { "acme" } else { "" };
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut run = Running(run.spawn().unwrap());
    until(|| {
        stage
            .database()
            .table_exists(None, "sdk_outbox")
            .unwrap_or(false)
    })
    .await;
    let store = stage.database();
    store.busy_timeout(Duration::from_secs(10)).unwrap();
    // The worker has parked this row, so it has looked at the store.
    let probe = "INSERT INTO sdk_outbox (id, application, installation, command) VALUES (-9, 'calendar', ?1, '')";
    store.execute(probe, [label]).unwrap();
    until(|| count(&store, "id = -9 AND state = 4") == 1).await;
    store
        .execute("DELETE FROM sdk_outbox WHERE id = -9", [])
        .unwrap();
    // No worker claims other rows: those of another application or installation, and those that are due next year.
    let left = format!(
        "state = 3 AND token IS NOT NULL OR state IN (0, 1) AND due_at < {} AND installation = '{label}'
         AND application IN ('crm', 'calendar', 'accounting', 'platform')",
        now() + 24 * HOUR
    );
    let mut before = count(&store, &left);
    while before > 0 {
        until(|| count(&store, &left) != before).await;
        before = count(&store, &left);
    }
    let stop = Command::new("kill").arg(run.0.id().to_string()).status();
    assert!(stop.unwrap().success());
    let mut messages = String::new();
    let mut stderr = run.0.stderr.take().unwrap();
    stderr.read_to_string(&mut messages).unwrap();
    assert!(run.0.wait().unwrap().success(), "{messages}");
    messages
}

pub(super) fn run(stage: &Stage, secret: Option<&str>) -> Command {
    let mut run = stage.command("mcp approvals run");
    run.envs(secret.map(|it| ("SUITE_APPROVAL_SECRET", it)));
    run
}

#[tokio::test]
async fn a_forged_approval_without_a_valid_signature_sends_nothing() {
    let (stage, mut agent) = started().await;
    let titles = [
        "unsigned",
        "other secret",
        "client secret",
        "other digest",
        "other expiry",
        "unreadable",
        "signed",
    ];
    let all = titles.map(|it| propose(&mut agent, it));
    let [unsigned, secret, client, digest, expiry, unreadable, signed] = &all;
    let (store, later) = (stage.database(), now() + HOUR);
    forge(&store, unsigned, later, None);
    forge(
        &store,
        secret,
        later,
        Some("another secret of the approver"),
    );
    forge(&store, client, later, Some(stage.server.client_secret()));
    for (proposal, signature) in [
        (digest, sign(SECRET, signed, later)),
        (expiry, sign(SECRET, expiry, later - 1)),
        (unreadable, sign(SECRET, unreadable, later)),
    ] {
        forge(&store, proposal, later, None);
        let sign = "UPDATE suite_proposal SET signature = ?2 WHERE digest = ?1";
        store.execute(sign, params![proposal, signature]).unwrap();
    }
    let damage = "UPDATE sdk_outbox SET command = CAST(x'ff' AS TEXT) WHERE reference = ?1";
    assert_eq!(store.execute(damage, [unreadable]).unwrap(), 1);
    forge(&store, signed, later, Some(SECRET));
    let messages = settle(&stage, run(&stage, Some(SECRET))).await;
    assert!(!messages.contains("warning"), "{messages}");

    // The last row shows that the others are not sent for no other reason, and that they don't stop the worker.
    let sent = stage.server.requests_for(Operation::SubmitEventCommand);
    assert_eq!(sent.len(), 1);
    let sent: Value = serde_json::from_slice(sent[0].body()).unwrap();
    assert_eq!(sent["title"], "signed");
    let (statuses, code) = statuses(&stage);
    let parked = statuses.iter().filter(|it| *it == "parked");
    assert_eq!((parked.count(), code), (6, Some(4)));
}

#[tokio::test]
async fn without_protection_the_agent_can_forge_approvals_and_each_output_warns() {
    let (stage, mut agent) = started().await;
    let proposed = agent.propose(EVENT, event("Kick-off"));
    let digest = proposed["digest"].as_str().unwrap();
    let warning = "protection of approvals: none, because the agent has the approver's credential";
    assert_says(
        proposed["protection"].as_str().unwrap(),
        &["none, because the agent"],
    );
    assert_says(&agent.end().1, &[warning]);
    for line in ["list".to_owned(), format!("show {digest} --output table")] {
        let shown = stage.approvals(&line);
        let shown = [shown.stdout, shown.stderr].concat();
        assert_says(&joined(&String::from_utf8(shown).unwrap()), &[warning]);
    }
    // The agent knows the approver's client secret, which signs approvals.
    forge(
        &stage.database(),
        digest,
        now() + HOUR,
        Some(stage.server.client_secret()),
    );
    assert_says(&settle(&stage, run(&stage, None)).await, &[warning]);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);

    let other = propose(&mut stage.agent(""), "Retro");
    let approved = stage.approvals(&format!("approve {other}"));
    printed(&approved);
    let messages = String::from_utf8(approved.stderr).unwrap();
    assert_says(&joined(&messages), &[warning]);
}

#[tokio::test]
async fn a_row_that_is_replaced_after_it_was_shown_is_not_approved() {
    let (stage, mut agent) = started().await;
    let [first, second] = ["1", "1000"].map(|it| propose(&mut agent, it));
    let shown = show(&stage, &first);
    assert_eq!(shown["digest"], *first);
    let store = stage.database();
    let read = "SELECT command FROM suite_proposal WHERE digest = ?1";
    let read = |digest: &str| store.query_row(read, [digest], |row| row.get::<_, String>(0));
    let commands = [&second, &first].map(|it| read(it).unwrap());
    for (digest, command) in [&first, &second].into_iter().zip(commands) {
        let swap = "UPDATE suite_proposal SET command = ?2 WHERE digest = ?1";
        assert_eq!(store.execute(swap, [digest, &command]).unwrap(), 1);
    }
    for digest in [first, second] {
        assert_says(&not_approved(&stage, &digest, 1), &["its digest differs"]);
        failure(&stage.approvals(&format!("show {digest}")), 1);
    }
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 0);
    assert_eq!(statuses(&stage), (vec!["pending".to_owned(); 2], Some(4)));
}

#[tokio::test]
async fn a_keyed_write_whose_row_is_copied_or_reset_is_still_applied_once() {
    let (stage, mut agent) = started().await;
    let digest = propose(&mut agent, "Kick-off");
    printed(&stage.approvals(&format!("approve {digest}")));
    let again = "INSERT INTO sdk_outbox (application, reference, command) SELECT application, reference, command FROM sdk_outbox;
        UPDATE sdk_outbox SET state = 1, attempts = 0, first_sent = NULL";
    stage.database().execute_batch(again).unwrap();
    settle(&stage, run(&stage, None)).await;
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 3);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
    assert_eq!(statuses(&stage), (vec!["done".to_owned()], Some(0)));
}

#[tokio::test]
async fn of_64_approvals_at_the_same_time_one_sends() {
    let (stage, mut agent) = started().await;
    let digest = propose(&mut agent, "Kick-off");
    // All processes read the pending proposal before any of them approves it.
    let slow = stage.server.fault(Operation::ExchangeToken);
    slow.delay(Duration::from_secs(2));
    let approve = || {
        let mut approve = stage.command(&format!("mcp approvals approve {digest}"));
        let approve = approve.stdin(Stdio::null()).stdout(Stdio::piped());
        approve.stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..64).map(|_| approve()).collect();
    let (mut approved, mut late) = (0, 0);
    for ended in all {
        let ended = ended.wait_with_output().unwrap();
        if ended.status.success() {
            approved += 1;
            continue;
        }
        let failed = failure(&ended, 1);
        assert_eq!(failed["kind"], "not_pending");
        late += u32::from(failed["message"].as_str().unwrap().contains("approved now"));
    }
    assert_eq!(approved, 1);
    assert!(late > 0, "no two processes read the pending proposal");
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 1);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}
