//! Findings of a review from outside: protection that fails closed, other programs' files, and faults of tokens.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::approvals::{UNKEYED, digest, joined, not_approved, propose, show, started, statuses};
use super::attacks::{SECRET, forge, now, run, settle};
use super::{Agent, EVENT, MODERN, Stage, at_peer, event, register, token_with};
use crate::peer::{self, Peer, always};
use crate::programs::call::{failure, printed};
use crate::programs::{Folder, output};
use crate::support::{assert_says, is_long};

const WRITE: Operation = Operation::SubmitEventCommand;
const OTHER: Operation = Operation::CreateFinancialCounterparty;

#[tokio::test]
async fn a_read_ends_if_the_server_ignores_the_limit() {
    let items = ["x".repeat(3_000), "y".repeat(3_000), "z".repeat(3_000)];
    let page = json!({"items": items, "nextCursor": null});
    let token = token_with("crm:people:read");
    let peer = Peer::start(always(peer::json(200, &page)).tokens_always(token));
    let folder = Folder::new("mcp-limit");
    let mut agent = Agent::start(at_peer(&peer, &folder, "mcp --max-result 2048"), MODERN);
    let failed = agent.call("crm_people_list", json!({})).unwrap_err();
    assert_says(&failed, &["more than the limit of 2048"]);
    let requests = peer.requests();
    assert!((2..=3).contains(&requests.len()), "{requests:?}");
}

#[tokio::test]
async fn a_stalled_token_endpoint_delays_the_tools_for_seconds_only() {
    let stage = Stage::new().await;
    stage.server.fault(Operation::ExchangeToken).stall();
    let began = Instant::now();
    let mut agent = stage.agent("");
    let names = agent.names();
    assert!(began.elapsed() < Duration::from_secs(20));
    let is_public = |it: &String| it.contains("_service_");
    assert!(names.len() == 4 && names.iter().all(is_public), "{names:?}");
    assert_eq!(agent.end().0, Some(0));
}

#[tokio::test]
async fn without_the_presentation_an_event_is_approved_and_no_tool_is_withdrawn() {
    let (stage, mut agent) = started().await;
    let tools = agent.names();
    let proposed = propose(&mut agent, "Kick-off");
    let fault = stage.server.fault(Operation::GetPresentation).status(500);
    printed(&stage.approvals(&format!("approve {proposed}")));
    assert_eq!(stage.server.commits(WRITE), 1);
    stage.register();
    assert!(fault.struck() > 1, "`approve` and `run` read it");
    assert_eq!(agent.names(), tools);
}

/// Returns the message of a command that must fail with this exit status. If it starts to send, this ends it.
#[track_caller]
fn not_started(mut command: Command, status: i32) -> String {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut messages = String::new();
    for line in BufReader::new(process.stderr.take().unwrap()).lines() {
        messages = line.unwrap();
        if messages.starts_with("Sending") {
            process.kill().unwrap();
        }
    }
    assert_eq!(process.wait().unwrap().code(), Some(status), "{messages}");
    messages
}

/// Proposes a write without a key, and returns its digest.
fn propose_unkeyed(agent: &mut Agent) -> String {
    digest(&agent.propose(UNKEYED, json!({"body": {"displayName": "Amber Works AG"}})))
}

/// Checks the protection in the messages of the agent and of the approver.
#[track_caller]
fn assert_protection(agent: Agent, mut list: Command, expected: &str) {
    let (status, messages) = agent.end();
    let list = output(&mut list);
    assert!(status == Some(0) && !list.stdout.is_empty());
    for messages in [messages, String::from_utf8(list.stderr).unwrap()] {
        let found = messages.find("warning: protection of approvals: ");
        let found = found.map_or("two credentials", |at| messages[at..].split_at(34).1);
        assert!(found.starts_with(expected), "{expected}: {messages}");
    }
}

#[tokio::test]
async fn the_agents_credential_protects_only_if_its_scopes_are_known_to_be_reads() {
    let reads = "crm:people:read accounting:counterparties:read suite.apps:read";
    let unknown = "none, because the agent's scopes for";
    let other = "none, because the agent has the scope";
    for (scopes, is_rejected, expected) in [
        (reads, false, "two credentials"),
        (reads, true, unknown),
        ("crm:people:write calendar:event:write", true, unknown),
        ("crm:people:write calendar:event:write", false, other),
    ] {
        let scopes: Vec<_> = scopes.split(' ').collect();
        let stage = Stage::new().await.with_agent(&scopes);
        stage.register();
        if is_rejected {
            let fault = stage.server.fault(Operation::ExchangeToken);
            fault.when_client("agent").status(401);
        }
        let mut agent = stage.agent("");
        agent.names();
        stage.server.clear_faults();
        let proposed = agent.propose(EVENT, event("Kick-off"));
        let protection = proposed["protection"].as_str().unwrap();
        assert!(protection.starts_with(expected), "{protection}");
        assert_protection(agent, stage.command("mcp approvals list"), expected);
    }

    // Token endpoints that grant other scopes than the contract's.
    let folder = Folder::new("mcp-protection");
    let peer = |scopes| Peer::start(always(peer::reply(404)).tokens_always(token_with(scopes)));
    let approver = peer("calendar:event:write");
    register(at_peer(&approver, &folder, "mcp approvals run"));
    for (scopes, at) in [
        ("crm:people:read suite.apps:read", None),
        ("crm:people:read custom:admin", Some(1)),
        ("* crm:people:read", Some(0)),
        ("crm:people:read,crm:tasks:read", Some(0)),
    ] {
        let peer = peer(scopes);
        let mut agent = at_peer(&peer, &folder, "mcp");
        agent.env("SUITE_CLIENT_ID", "agent");
        let mut agent = Agent::start(agent, MODERN);
        agent.names();
        let found = at.and_then(|at| scopes.split(' ').nth(at));
        let expected = found.map(|it| format!("{other} {it};"));
        let expected = expected.as_deref().unwrap_or("two credentials");
        let list = at_peer(&approver, &folder, "mcp approvals list");
        assert_protection(agent, list, expected);
    }

    // An endpoint without the parameter `scope` rejects each scope, also granted scopes.
    let token = json!({"access_token": "a", "token_type": "Bearer", "expires_in": 300});
    let token = || peer::json(200, &token);
    let rejected = peer::json(400, &json!({"error": "invalid_scope"}));
    let tokens = [token_with("crm:people:read"), token(), token(), token()];
    let script = always(peer::reply(404)).tokens(tokens);
    let peer = Peer::start(script.tokens_always(rejected));
    let mut agent = at_peer(&peer, &folder, "mcp");
    agent.env("SUITE_CLIENT_ID", "agent");
    let agent = Agent::start(agent, MODERN);
    let list = at_peer(&approver, &folder, "mcp approvals list");
    assert_protection(agent, list, unknown);
}

#[tokio::test]
async fn a_write_of_unknown_effect_is_not_resent_by_the_outbox_and_keeps_its_note() {
    let stage = Stage::new().await;
    stage.register();
    let mut agent = stage.agent("--undocumented-scopes");
    let proposed = propose_unkeyed(&mut agent);
    stage.server.fault(OTHER).times(1).lose_reply();
    not_approved(&stage, &proposed, 4);
    let outbox = |line: &str| {
        let mut command = stage.command(&format!("outbox {line}"));
        command.arg("--store").arg(stage.store());
        command
    };
    let row = "SELECT json_array(id, state, due_at, attempts, decided_by, note) FROM sdk_outbox";
    let row = || {
        stage
            .database()
            .query_row(row, [], |it| it.get::<_, String>(0))
            .unwrap()
    };
    let parked = row();
    assert_says(&parked, &["[1,4,"]);
    for line in ["run", "retry 1 --by x", "drop 1 --by x --why y"] {
        assert_says(&not_started(outbox(line), 2), &["suite mcp approvals"]);
    }
    assert_eq!(row(), parked);
    assert_eq!(output(&mut outbox("status")).status.code(), Some(4));
    assert_says(&printed(&output(&mut outbox("list"))), &[&proposed]);
    let arguments = json!({"digest": proposed});
    let earlier = agent.propose("approval_status", arguments.clone());
    printed(&stage.approvals(&format!("reject {proposed}")));
    let rejected = agent.propose("approval_status", arguments);
    assert_eq!(rejected["status"], "rejected");
    let note = earlier["note"].as_str().unwrap();
    assert!(note.len() > 20, "{note}");
    assert_says(rejected["note"].as_str().unwrap(), &["rejected", note]);
    settle(&stage, run(&stage, None)).await;
    assert_eq!(
        (stage.server.attempts(OTHER), stage.server.commits(OTHER)),
        (1, 1)
    );
}

#[tokio::test]
async fn another_programs_file_is_not_a_store_and_stays_as_it_is() {
    let stage = Stage::new().await;
    let folder = &stage.folder;
    let service = rusqlite::Connection::open(folder.file("service.sqlite")).unwrap();
    let tables = "CREATE TABLE sdk_outbox (id INTEGER PRIMARY KEY)";
    service.execute_batch(tables).unwrap();
    drop(service);
    fs::write(folder.file("notes.txt"), "The agent's notes.").unwrap();
    let file = |name: String| (fs::read(folder.file(&name)).unwrap(), name);
    let files = || folder.names().into_iter().map(file).collect::<Vec<_>>();
    let before = files();
    let [show, reject] = ["show", "reject"].map(|it| format!("mcp approvals {it} 0"));
    for (store, also) in [
        ("missing.sqlite", &[][..]),
        (":memory:", &[]),
        ("service.sqlite", &["mcp", "mcp approvals run"]),
        ("notes.txt", &["mcp", "mcp approvals run"]),
    ] {
        for line in ["mcp approvals list", &show, &reject].iter().chain(also) {
            let mut command = stage.command(line);
            command.args(["--store", store]).current_dir(&folder.0);
            assert_says(&not_started(command, 3), &[store]);
            assert_eq!(files(), before, "{line} {store}");
        }
    }
}

#[tokio::test]
async fn an_expired_approval_is_not_extended_by_the_time_of_an_attempt() {
    let (stage, mut agent) = started().await;
    let proposed = propose(&mut agent, "Kick-off");
    let secret = stage.server.client_secret();
    let store = stage.database();
    forge(&store, &proposed, now() - 1_000, Some(secret));
    let sent = "UPDATE sdk_outbox SET state = 1, attempts = 1, first_sent = ?1";
    assert_eq!(store.execute(sent, [now() - 60_000]), Ok(1));
    settle(&stage, run(&stage, None)).await;
    assert_eq!(stage.server.attempts(WRITE), 0);
    assert_eq!(statuses(&stage), (vec!["parked".to_owned()], Some(4)));
    let listed = String::from_utf8(stage.approvals("list").stdout).unwrap();
    assert_says(
        &listed,
        &["has expired; an earlier attempt may have been applied"],
    );
}

#[tokio::test]
async fn no_line_of_an_agent_looks_like_a_fact() {
    let (stage, mut agent) = started().await;
    let fakes = ["status        done", "digest        5bc1d120aa"];
    let fakes = fakes.map(|it| format!("{it:<80}{it:>64}")).concat();
    let hidden = "\u{2800}\u{e000}\u{3164}\u{3000}";
    let mut arguments = event(&format!("{fakes}{}{hidden}", "字".repeat(99)));
    arguments["intent"] = json!(fakes);
    let proposed = digest(&agent.propose(EVENT, arguments.clone()));
    let table = printed(&stage.approvals(&format!("show {proposed} --output table")));
    let mut names = Vec::new();
    for line in table.lines() {
        let wide = line.chars().filter(|it| !it.is_ascii()).count();
        let columns = line.chars().count() + wide;
        assert!(columns < 80, "{columns}: {line}");
        if !line.starts_with("            | ") {
            names.push(line.split(' ').next().unwrap());
        }
    }
    let own = "installation origin clientId operation method path query body key status age digest warnings agentSays";
    assert_eq!(names.join(" "), own);
    let shown = joined(&table);
    assert_says(&shown, &[&format!("agentSays     {fakes}")]);
    let mut lines = shown.lines();
    let body = lines.find_map(|it| it.strip_prefix("body          "));
    let body: Value = serde_json::from_str(body.unwrap()).unwrap();
    assert_eq!(body, arguments["body"]);
    assert!(!table.contains(|it| hidden.contains(it)), "{table}");
}

#[tokio::test]
async fn an_approval_without_a_token_approves_nothing_and_withdraws_no_tool() {
    let stage = Stage::new().await;
    stage.register();
    let mut agent = stage.agent("--undocumented-scopes");
    let tools = agent.names();
    for proposed in [propose(&mut agent, "Kick-off"), propose_unkeyed(&mut agent)] {
        let line = format!("mcp approvals approve {proposed}");
        let mut wrong = stage.command(&line);
        failure(&output(wrong.env("SUITE_CLIENT_SECRET", "wrong")), 3);
        let fault = stage.server.fault(Operation::ExchangeToken).status(503);
        not_approved(&stage, &proposed, 6);
        fault.remove();
        assert_eq!(statuses(&stage), (vec!["pending".to_owned(); 2], Some(4)));
        assert_eq!(agent.names(), tools);
    }
    for write in [WRITE, OTHER] {
        assert_eq!(stage.server.attempts(write), 0);
    }
}

#[tokio::test]
async fn an_approval_secret_is_own_long_and_required_where_it_signs() {
    let stage = Stage::new().await;
    let client = stage.server.client_secret().to_owned();
    for secret in [&client, &" ".repeat(20), "123456789012345"] {
        let message = not_started(run(&stage, Some(secret)), 3);
        assert_says(&message, &["SUITE_APPROVAL_SECRET must"]);
        assert!(!message.contains(secret));
    }
    register(run(&stage, Some(SECRET)));
    let mut agent = stage.agent("");
    let [first, second] = ["1", "2"].map(|it| propose(&mut agent, it));
    let missing = "SUITE_APPROVAL_SECRET is not set";
    assert_says(&not_approved(&stage, &first, 3), &[missing]);
    assert_says(&not_started(run(&stage, None), 3), &[missing]);
    assert_eq!(statuses(&stage), (vec!["pending".to_owned(); 2], Some(4)));
    show(&stage, &first);
    printed(&stage.approvals(&format!("reject {first}")));
    let mut approve = stage.command(&format!("mcp approvals approve {second}"));
    printed(&output(approve.env("SUITE_APPROVAL_SECRET", SECRET)));
    assert_eq!(stage.server.attempts(WRITE), 1);
}

#[test]
fn a_first_message_without_a_request_ends_the_process_with_one_line() {
    let peer = Peer::start(always(peer::reply(404)).tokens_always(token_with("crm:people:read")));
    let folder = Folder::new("mcp-first");
    let start = || Agent::start(at_peer(&peer, &folder, "mcp"), MODERN);
    for first in [
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ] {
        let mut agent = start();
        agent.write(&first);
        let (status, messages) = agent.end();
        assert_eq!(status, Some(1), "{messages}");
        let lines = messages.lines().filter(|it| !it.starts_with("warning: "));
        let [line] = &lines.collect::<Vec<_>>()[..] else {
            panic!("{messages}");
        };
        assert_says(line, &["the first message must be"]);
        assert!(!line.contains("JsonRpc"), "{line}");
    }
    assert_eq!(start().end().0, Some(0));
}

#[tokio::test]
async fn an_agent_and_an_approver_can_create_the_store_at_the_same_time() {
    for _ in 0..if is_long() { 50 } else { 4 } {
        let stage = Stage::new().await;
        let agents: Vec<_> = (0..4).map(|_| stage.agent("")).collect();
        stage.register();
        for agent in agents {
            let (status, messages) = agent.end();
            assert_eq!(status, Some(0), "{messages}");
        }
    }
}

#[tokio::test]
async fn a_store_whose_creation_was_interrupted_is_completed() {
    let stage = Stage::new().await;
    // SQLite writes the header before the first table.
    let header = stage.database().execute_batch("PRAGMA journal_mode = WAL");
    header.unwrap();
    stage.register();
    assert_eq!(statuses(&stage), (Vec::new(), Some(0)));
}
