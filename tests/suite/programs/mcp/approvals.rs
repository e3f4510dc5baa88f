//! Proposals, and their review and approval by a person.

use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::{Agent, EVENT, Stage, event};
use crate::programs::call::{failure, printed};
#[cfg(target_os = "linux")]
use crate::programs::desk::Desk;
use crate::support::assert_says;

/// The tool that proposes a record command, which takes no key and is replayable.
pub(super) const RECORD: &str = "crm_commands_submit";
/// The tool of a write that can't be replayed. The contract documents no scope for it.
pub(super) const UNKEYED: &str = "accounting_counterparties_create";

pub(super) fn digest(proposed: &Value) -> String {
    proposed["digest"].as_str().unwrap().to_owned()
}

/// Proposes an event, and returns its digest.
pub(super) fn propose(agent: &mut Agent, title: &str) -> String {
    digest(&agent.propose(EVENT, event(title)))
}

/// Returns the statuses of `approvals list`, the oldest first, and its exit status.
pub(super) fn statuses(stage: &Stage) -> (Vec<String>, Option<i32>) {
    let list = stage.approvals("list");
    let rows: Vec<Value> = serde_json::from_slice(&list.stdout).unwrap();
    let status = |row: &Value| row["status"].as_str().unwrap().to_owned();
    (rows.iter().map(status).collect(), list.status.code())
}

/// Joins the lines of long values, which continue behind a bar.
pub(super) fn joined(table: &str) -> String {
    table.replace("\n            | ", "")
}

pub(super) fn show(stage: &Stage, digest: &str) -> Value {
    serde_json::from_str(&printed(&stage.approvals(&format!("show {digest}")))).unwrap()
}

#[track_caller]
pub(super) fn approve(stage: &Stage, digest: &str) -> Value {
    serde_json::from_str(&printed(&stage.approvals(&format!("approve {digest}")))).unwrap()
}

/// Returns the message of an approval that fails with this exit status.
#[track_caller]
pub(super) fn not_approved(stage: &Stage, digest: &str, status: i32) -> String {
    let failed = failure(&stage.approvals(&format!("approve {digest}")), status);
    failed["message"].as_str().unwrap().to_owned()
}

/// Starts a server, a registered approver and an agent.
pub(super) async fn started() -> (Stage, Agent) {
    let stage = Stage::new().await;
    stage.register();
    let agent = stage.agent("");
    (stage, agent)
}

#[tokio::test]
async fn the_same_write_again_is_the_same_proposal_and_is_applied_once() {
    let (stage, mut agent) = started().await;
    let proposed = agent.propose(EVENT, event("Kick-off"));
    assert_eq!(agent.propose(EVENT, event("Kick-off")), proposed);
    assert_eq!(agent.end().0, Some(0));
    let mut agent = stage.agent("");
    assert_eq!(agent.propose(EVENT, event("Kick-off")), proposed);
    assert_eq!(statuses(&stage), (vec!["pending".to_owned()], Some(4)));

    let result = approve(&stage, &digest(&proposed));
    assert_eq!(statuses(&stage), (vec!["done".to_owned()], Some(0)));
    for mut agent in [agent, stage.agent("")] {
        let texts = agent.call(EVENT, event("Kick-off")).unwrap();
        let again: Value = serde_json::from_str(&texts[0]).unwrap();
        assert_eq!(
            (&again["status"], digest(&again)),
            (&json!("done"), digest(&proposed))
        );
        assert_eq!(serde_json::from_str::<Value>(&texts[1]).unwrap(), result);
    }
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn another_intent_is_another_proposal_with_a_warning_that_names_the_earlier_proposal() {
    let (stage, mut agent) = started().await;
    let first = propose(&mut agent, "Weekly");
    approve(&stage, &first);
    let mut repeated = event("Weekly");
    repeated["intent"] = json!("the person asked for a second one");
    let second = digest(&agent.propose(EVENT, repeated.clone()));
    assert_ne!(second, first);
    assert_eq!(digest(&agent.propose(EVENT, repeated)), second);
    let shown = show(&stage, &second);
    assert_says(
        shown["warnings"].as_str().unwrap(),
        &[&format!("{first} is done")],
    );
    assert_eq!(shown["agentSays"], "the person asked for a second one");
    approve(&stage, &second);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 2);

    let mut task = json!({"body": {"commandType": "task.create", "payload": {"title": "Call"}}});
    agent.propose(RECORD, task.clone());
    task["intent"] = json!("again");
    let rejected = agent.call(RECORD, task).unwrap_err();
    assert_says(&rejected, &["intent is not an argument"]);
    assert_eq!(statuses(&stage).0.len(), 3);
}

#[tokio::test]
async fn a_person_sees_each_fact_in_order_and_the_words_of_the_agent_last() {
    let (stage, mut agent) = started().await;
    let mut arguments = event("Kick-off");
    arguments["intent"] = json!("it is urgent");
    let proposed = digest(&agent.propose(EVENT, arguments));
    let command = "SELECT command FROM suite_proposal";
    let command: String = stage
        .database()
        .query_row(command, [], |row| row.get(0))
        .unwrap();
    let command: Value = serde_json::from_str(&command).unwrap();
    let text = |field: &str| command[field].as_str().unwrap().to_owned();
    let origin = stage.server.calendar_url();
    let facts = [
        ("installation", "default (the variables SUITE_*)"),
        ("origin", &origin),
        ("clientId", stage.server.client_id()),
        ("method", "POST"),
        ("path", "/calendar/v1/event-commands"),
        ("query", ""),
        ("body", &text("body")),
        ("key", &text("idempotencyKey")),
        ("status", "pending"),
        ("age", ""),
        ("digest", &proposed),
        ("agentSays", "it is urgent"),
    ];
    let table = printed(&stage.approvals(&format!("show {proposed} --output table")));
    assert!(table.lines().all(|it| it.chars().count() < 80), "{table}");
    let table = joined(&table);
    let mut lines = table.lines().map(|it| it.split_once(' ').unwrap());
    for (name, value) in facts {
        let line = lines.find(|(found, _)| *found == name).expect(&table);
        assert!(line.1.trim_start().starts_with(value), "{name}: {table}");
    }
    assert_eq!(lines.next(), None, "{table}");
    let shown = show(&stage, &proposed);
    for (name, value) in facts {
        assert!(shown[name].as_str().unwrap().starts_with(value), "{name}");
    }

    let task = json!({"body": {"commandType": "task.create", "payload": {"title": "Call"}}});
    let record = digest(&agent.propose(RECORD, task));
    let key = show(&stage, &record)["key"].clone();
    assert_says(key.as_str().unwrap(), &["none: an exact repetition"]);
    let mut agent = stage.agent("--undocumented-scopes");
    let unkeyed = agent.propose(UNKEYED, json!({"body": {"displayName": "Amber Works AG"}}));
    let key = show(&stage, &digest(&unkeyed))["key"].clone();
    assert_says(key.as_str().unwrap(), &["none: cannot be replayed"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn characters_that_control_a_terminal_are_shown_escaped() {
    let (stage, mut agent) = started().await;
    let mut arguments = event("\u{202e}fdp.\u{2066}\u{200f}\u{85}\u{7f}\u{1b}[2J\r\nkey  none");
    arguments["intent"] = json!("fine\ndigest\t0000\u{1b}[1A\u{202e}\u{2028}x\u{9b}");
    let proposed = digest(&agent.propose(EVENT, arguments));
    let mut environment = stage.server.environment();
    environment.push((
        "SUITE_APPROVALS".to_owned(),
        stage.store().display().to_string(),
    ));
    let terminal =
        Desk::new(environment).run_at_terminal(&format!("mcp approvals show {proposed}"));
    let table = printed(&stage.approvals(&format!("show {proposed} --output table")));
    let approved = stage.approvals(&format!("approve {proposed}"));
    let messages = String::from_utf8(approved.stderr).unwrap();
    assert_eq!(terminal.out, table);
    let is_shown = |it: char| {
        let is_bidirectional = matches!(it, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        it == '\n' || !it.is_control() && !is_bidirectional
    };
    for shown in [&terminal.out, &messages] {
        assert!(shown.chars().all(is_shown), "{shown:?}");
        assert_says(
            shown,
            &["u202e", "u2066", "u200f", "u0085", "u007f", "u001b"],
        );
    }
    for lines in [&terminal.out, &messages] {
        assert_eq!(
            lines.lines().filter(|it| it.starts_with("digest")).count(),
            1,
            "{lines}"
        );
        assert_eq!(
            lines.lines().filter(|it| it.starts_with("key")).count(),
            1,
            "{lines}"
        );
        assert_says(lines, &["agentSays     fine\\u000adigest\\u00090000"]);
    }
    let sent = &stage.server.requests_for(Operation::SubmitEventCommand)[0];
    assert!(
        String::from_utf8_lossy(sent.body()).contains("\u{202e}fdp"),
        "not escaped"
    );
}

#[tokio::test]
async fn approval_without_a_terminal_takes_all_digits_and_sends_exactly_the_shown_bytes_once() {
    let (stage, mut agent) = started().await;
    let proposed = propose(&mut agent, "Kick-off");
    propose(&mut agent, "Retro");
    let known = stage.server.requests().len();
    for line in [&proposed[..63], "", "--all", &format!("{proposed}0")] {
        let failed = stage.approvals(&format!("approve {line}"));
        assert_eq!(failed.status.code(), Some(2), "{line}");
    }
    assert_eq!(stage.server.requests().len(), known);
    assert_eq!(statuses(&stage), (vec!["pending".to_owned(); 2], Some(4)));

    let shown = show(&stage, &proposed);
    let result = approve(&stage, &proposed);
    assert_says(&not_approved(&stage, &proposed, 1), &["is done"]);
    let sent = stage.server.requests_for(Operation::SubmitEventCommand);
    assert_eq!(sent.len(), 1);
    assert_eq!(shown["body"].as_str().unwrap().as_bytes(), sent[0].body());
    assert_eq!(shown["key"].as_str(), sent[0].idempotency_key());
    assert_eq!(shown["path"].as_str(), Some(&*sent[0].path));
    assert_eq!(result["replayed"], false);
    assert_eq!(
        statuses(&stage),
        (vec!["done".to_owned(), "pending".to_owned()], Some(4))
    );
}
