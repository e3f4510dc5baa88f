//! Killed processes and lost responses: each keyed write is applied once, and each other write at most once.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use sdk_reference_server::Operation;
use serde_json::json;

use super::approvals::{UNKEYED, digest, not_approved, propose, started, statuses};
use super::attacks::{HOUR, count, forge, now, run, settle};
use super::{EVENT, Running, Stage, event};
use crate::programs::call::printed;
use crate::support::{assert_says, until};

/// The moment at which a process is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    /// The server has rejected the worker's token, and the worker waits for a new token.
    Token,
    /// The server has received the request, and doesn't apply it.
    Received,
    /// The server has applied the write, and hasn't sent the response.
    Applied,
}

/// A process of the approver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Approve,
    Run,
}

const KEYED: Operation = Operation::SubmitEventCommand;
const OTHER: Operation = Operation::CreateFinancialCounterparty;

/// Starts a process of the approver, and waits until it has stopped at this moment with all writes in flight.
async fn stopped(stage: &Stage, line: &str, at: At, write: Operation, in_flight: i64) -> Running {
    // `run` starts with a token of each application, and `approve` with the token that it needs.
    let (tokens_at_start, requests) = if line == "run" {
        (4, in_flight)
    } else {
        (1, 1)
    };
    let tokens = stage.server.fault(Operation::ExchangeToken);
    if at == At::Token {
        tokens.clone().skip(tokens_at_start).times(1).stall();
        let requests = stage.server.fault(write).times(requests.unsigned_abs());
        requests.revoke_token();
    }
    let mut command = stage.command(&format!("mcp approvals {line}"));
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = Running(command.stderr(Stdio::null()).spawn().unwrap());
    let store = stage.database();
    until(|| {
        let attempts = stage.server.attempts(write);
        // After the first rejection, the other writes of `run` wait for the token before they are sent.
        let is_there = match at {
            At::Token => attempts > 0 && tokens.struck() == 1,
            At::Received | At::Applied => attempts == in_flight.unsigned_abs(),
        };
        is_there && count(&store, "state = 3") == in_flight
    })
    .await;
    child
}

/// Proposes writes, kills the process of the approver that sends them, and lets `approvals run` finish. The writes have
/// the titles 0, 1 and so on. This is also the number of responses that are lost after the kill. Returns the number of
/// attempts before the kill.
async fn killed(by: By, at: At, write: Operation, writes: i64) -> (Stage, u64) {
    let stage = Stage::new().await;
    stage.register();
    let mut agent = stage.agent("--undocumented-scopes");
    let titles: Vec<_> = (0..writes).map(|it| it.to_string()).collect();
    let proposed = titles.iter().map(|title| {
        if write == KEYED {
            return propose(&mut agent, title);
        }
        digest(&agent.propose(UNKEYED, json!({"body": {"displayName": title}})))
    });
    let proposed: Vec<_> = proposed.collect();
    match at {
        At::Token => {}
        At::Received => {
            let fault = stage.server.fault(write).status(503);
            fault.delay(Duration::from_secs(60));
        }
        At::Applied => drop(stage.server.fault(write).stall()),
    }
    let mut processes = Vec::new();
    if by == By::Run {
        for digest in &proposed {
            let secret = stage.server.client_secret();
            forge(&stage.database(), digest, now() + HOUR, Some(secret));
        }
        processes.push(stopped(&stage, "run", at, write, writes).await);
    } else {
        for (in_flight, digest) in (1..).zip(&proposed) {
            let line = format!("approve {digest}");
            processes.push(stopped(&stage, &line, at, write, in_flight).await);
        }
    }
    // Kills them.
    drop(processes);
    let attempts = stage.server.attempts(write);
    // The lease of a killed worker lasts 40 seconds.
    let end = "UPDATE sdk_outbox SET lease_until = 0 WHERE state = 3";
    assert_eq!(stage.database().execute(end, []), Ok(proposed.len()));
    stage.server.clear_faults();
    for (lost, title) in (1..).zip(&titles[1..]) {
        let fault = stage.server.fault(write).times(lost);
        fault.when_member("/title", title.as_str()).lose_reply();
    }
    settle(&stage, run(&stage, None)).await;
    (stage, attempts)
}

async fn applied_once(by: By, at: At) {
    let (stage, before) = killed(by, at, KEYED, 3).await;
    assert_eq!(
        statuses(&stage),
        (vec!["done".to_owned(); 3], Some(0)),
        "{at:?}"
    );
    let counts = (stage.server.commits(KEYED), stage.server.attempts(KEYED));
    assert_eq!(counts, (3, before + 1 + 2 + 3), "{at:?}");
    let mut sent = BTreeMap::<_, BTreeSet<_>>::new();
    for request in stage.server.requests_for(KEYED) {
        let key = request.idempotency_key().unwrap().to_owned();
        sent.entry(key).or_default().insert(request.body().clone());
    }
    assert_eq!(sent.len(), 3, "each write has one key");
    assert!(
        sent.values().all(|it| it.len() == 1),
        "the bytes are the same"
    );
}

#[tokio::test]
async fn a_keyed_write_is_applied_once_after_a_kill_of_approve_and_lost_replies() {
    let each = |at| applied_once(By::Approve, at);
    tokio::join!(each(At::Token), each(At::Received), each(At::Applied));
}

#[tokio::test]
async fn a_keyed_write_is_applied_once_after_a_kill_of_run_and_lost_replies() {
    let each = |at| applied_once(By::Run, at);
    tokio::join!(each(At::Token), each(At::Received), each(At::Applied));
}

#[tokio::test]
async fn a_write_without_a_key_is_attempted_at_most_once_and_parked() {
    let each = async |by, at| {
        let (stage, before) = killed(by, at, OTHER, 1).await;
        assert_eq!(before, 1);
        let about = format!("{by:?} {at:?}");
        assert_eq!(
            statuses(&stage),
            (vec!["parked".to_owned()], Some(4)),
            "{about}"
        );
        let counts = (stage.server.attempts(OTHER), stage.server.commits(OTHER));
        assert_eq!(counts, (1, u64::from(at == At::Applied)), "{about}");
    };
    for by in [By::Approve, By::Run] {
        for at in [At::Token, At::Received, At::Applied] {
            each(by, at).await;
        }
    }
}

#[tokio::test]
async fn a_write_without_a_key_is_parked_after_a_lost_reply() {
    let stage = Stage::new().await;
    stage.register();
    let mut agent = stage.agent("--undocumented-scopes");
    let proposed = agent.propose(UNKEYED, json!({"body": {"displayName": "Amber Works AG"}}));
    stage.server.fault(OTHER).times(1).lose_reply();
    assert_says(
        &not_approved(&stage, &digest(&proposed), 4),
        &["the write is parked"],
    );
    settle(&stage, run(&stage, None)).await;
    assert_eq!(statuses(&stage), (vec!["parked".to_owned()], Some(4)));
    assert_eq!(
        (stage.server.attempts(OTHER), stage.server.commits(OTHER)),
        (1, 1)
    );
}

#[tokio::test]
async fn a_proposal_outlives_a_killed_agent() {
    let (stage, mut agent) = started().await;
    agent.send(
        "tools/call",
        json!({"name": EVENT, "arguments": event("Kick-off")}),
    );
    let stored = "SELECT digest FROM suite_proposal";
    let store = stage.database();
    let stored = || store.query_row(stored, [], |row| row.get::<_, String>(0));
    until(|| stored().is_ok()).await;
    agent.child.kill().unwrap();
    agent.child.wait().unwrap();
    let mut agent = stage.agent("");
    let again = agent.propose(EVENT, event("Kick-off"));
    assert_eq!(
        (&again["status"], digest(&again)),
        (&json!("pending"), stored().unwrap())
    );
    assert_eq!(stage.server.attempts(KEYED), 0);
    printed(&stage.approvals(&format!("approve {}", digest(&again))));
    assert_eq!(
        (stage.server.attempts(KEYED), stage.server.commits(KEYED)),
        (1, 1)
    );
}
