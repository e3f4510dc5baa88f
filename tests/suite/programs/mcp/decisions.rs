//! The end of a proposal: rejected, expired, parked, or approved with another credential.

use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use sdk_reference_server::{ClientSpec, Operation};
use serde_json::json;

use super::approvals::{
    RECORD, UNKEYED, approve, digest, not_approved, propose, show, started, statuses,
};
use super::attacks::{forge, run, settle};
use super::{Agent, EVENT, MODERN, Stage, event, register};
use crate::programs::call::{failure, printed};
use crate::programs::output;
use crate::support::{assert_says, until};

fn set(stage: &Stage, digest: &str, assignment: &str) {
    let set = format!("UPDATE suite_proposal SET {assignment} WHERE digest = ?1");
    assert_eq!(stage.database().execute(&set, [digest]).unwrap(), 1);
}

#[tokio::test]
async fn a_rejected_proposal_stays_rejected() {
    let (stage, mut agent) = started().await;
    let proposed = propose(&mut agent, "Kick-off");
    printed(&stage.approvals(&format!("reject {}", &proposed[..8])));
    assert_eq!(
        agent.propose(EVENT, event("Kick-off"))["status"],
        "rejected"
    );
    assert_says(&not_approved(&stage, &proposed, 1), &["is rejected"]);
    failure(&stage.approvals(&format!("reject {proposed}")), 1);
    // An approved write that wasn't sent yet.
    let approved = propose(&mut agent, "Retro");
    let key = stage.server.client_secret();
    forge(&stage.database(), &approved, i64::MAX, Some(key));
    printed(&stage.approvals(&format!("reject {approved}")));
    settle(&stage, stage.command("mcp approvals run")).await;
    assert_eq!(statuses(&stage), (vec!["rejected".to_owned(); 2], Some(0)));
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 0);
}

#[tokio::test]
async fn an_expired_proposal_is_approved_only_after_it_was_proposed_again() {
    let (stage, mut agent) = started().await;
    let proposed = propose(&mut agent, "Kick-off");
    set(&stage, &proposed, "expires = 1");
    assert_eq!(statuses(&stage), (vec!["expired".to_owned()], Some(0)));
    assert_says(&not_approved(&stage, &proposed, 1), &["is expired"]);
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 0);
    assert_eq!(agent.propose(EVENT, event("Kick-off"))["status"], "pending");
    approve(&stage, &proposed);
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn at_most_20_proposals_wait_for_a_person() {
    let (stage, mut agent) = started().await;
    let all: Vec<_> = (0..20)
        .map(|it| propose(&mut agent, &it.to_string()))
        .collect();
    let excess = agent.call(EVENT, event("20")).unwrap_err();
    assert_says(&excess, &["20 proposals already wait"]);
    assert_eq!(
        propose(&mut agent, "7"),
        all[7],
        "a known proposal counts once"
    );
    printed(&stage.approvals(&format!("reject {}", all[0])));
    propose(&mut agent, "20");
    agent.call(EVENT, event("21")).unwrap_err();
    let (statuses, _) = statuses(&stage);
    assert_eq!(statuses.iter().filter(|it| *it == "pending").count(), 20);
}

#[tokio::test]
async fn with_two_credentials_only_the_approver_can_write() {
    let scopes = ["crm:people:read", "crm:today:read", "suite.apps:read"];
    let stage = Stage::new().await.with_agent(&scopes);
    stage.register();
    let as_agent = |line: &str| {
        let mut command = stage.command(line);
        // The token endpoint doesn't list scopes of an application for which the client has none.
        command
            .env_remove("SUITE_CALENDAR_URL")
            .env_remove("SUITE_ACCOUNTING_URL");
        command
            .env("SUITE_CLIENT_ID", &stage.agent.0)
            .env("SUITE_CLIENT_SECRET", &stage.agent.1);
        command
    };
    let mut agent = Agent::start(as_agent("mcp"), MODERN);
    let person = json!({"commandType": "person.create", "payload": {"displayName": "Zoe"}});
    let proposed = agent.propose(RECORD, json!({"body": person}));
    assert_eq!(proposed["protection"], "two credentials");
    let file = stage.folder.file("person.json");
    fs::write(&file, person.to_string()).unwrap();
    let line = format!("call commands.submit --yes --body {}", file.display());
    failure(&output(&mut as_agent(&line)), 1);
    let sent = stage.server.requests_for(Operation::SubmitCommand);
    assert_eq!((sent.len(), sent[0].status), (1, Some(403)));
    // The agent's credential can't approve the proposal either.
    let line = format!("mcp approvals approve {}", digest(&proposed));
    let failed = failure(&output(&mut as_agent(&line)), 1);
    assert_says(
        failed["message"].as_str().unwrap(),
        &["another origin or client ID"],
    );

    let approved = output(&mut stage.command(&line));
    printed(&approved);
    assert!(
        !String::from_utf8(approved.stderr)
            .unwrap()
            .contains("protection")
    );
    assert_eq!(
        agent.propose(RECORD, json!({"body": person}))["status"],
        "done"
    );
    assert_eq!(stage.server.commits(Operation::SubmitCommand), 1);
    assert_eq!(stage.server.attempts(Operation::SubmitCommand), 2);
}

#[tokio::test]
async fn approval_fails_without_the_scope_and_for_a_type_that_is_no_longer_offered() {
    let (stage, mut agent) = started().await;
    let meeting = propose(&mut agent, "Kick-off");
    let task = json!({"body": {"commandType": "task.create", "payload": {"title": "Call"}}});
    let task = digest(&agent.propose(RECORD, task));
    let (id, secret) = (stage.server.client_id(), stage.server.client_secret());
    assert!(stage.server.remove_client(id));
    let scopes = ["crm:people:write", "crm:today:read"];
    stage
        .server
        .add_client(ClientSpec::new(id, secret).scopes(scopes));
    assert_says(
        &not_approved(&stage, &meeting, 3),
        &["calendar:event:write"],
    );
    assert_says(
        &not_approved(&stage, &task, 3),
        &["person.create", "got task.create"],
    );
    for write in [Operation::SubmitEventCommand, Operation::SubmitCommand] {
        assert_eq!(stage.server.attempts(write), 0);
    }
    assert_eq!(statuses(&stage), (vec!["pending".to_owned(); 2], Some(4)));
}

#[tokio::test]
async fn an_approval_that_expires_before_the_write_is_sent_is_parked_until_the_next_approval() {
    let (stage, mut agent) = started().await;
    let proposed = propose(&mut agent, "Kick-off");
    forge(
        &stage.database(),
        &proposed,
        1,
        Some(stage.server.client_secret()),
    );
    let run = settle(&stage, stage.command("mcp approvals run")).await;
    assert_says(&run, &["warning: protection of approvals: none"]);
    assert_eq!(statuses(&stage), (vec!["parked".to_owned()], Some(4)));
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 0);
    let listed = String::from_utf8(stage.approvals("list").stdout).unwrap();
    assert_says(&listed, &["the approval has expired"]);
    let shown = show(&stage, &proposed);
    assert_says(shown["warnings"].as_str().unwrap(), &["it is parked"]);
    approve(&stage, &proposed);
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn a_write_that_the_server_rejects_is_parked_and_can_be_dropped() {
    let (stage, mut agent) = started().await;
    for status in [409, 422] {
        let title = status.to_string();
        let fault = stage.server.fault(Operation::SubmitEventCommand);
        fault.when_member("/title", title.as_str()).status(status);
        let proposed = propose(&mut agent, &title);
        assert_says(&not_approved(&stage, &proposed, 4), &["parked", &title]);
        assert_eq!(statuses(&stage).1, Some(4));
        printed(&stage.approvals(&format!("reject {proposed} --by ann")));
        assert_eq!(agent.propose(EVENT, event(&title))["status"], "rejected");
        assert_says(&not_approved(&stage, &proposed, 1), &["is rejected"]);
    }
    assert_eq!(statuses(&stage), (vec!["rejected".to_owned(); 2], Some(0)));
    assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 2);
}

#[tokio::test]
async fn a_proposal_of_another_installation_or_client_is_not_approved() {
    let (stage, mut agent) = started().await;
    let proposed = propose(&mut agent, "Kick-off");
    let other = Stage::new().await;
    let others = [
        ("SUITE_CLIENT_ID", "other".to_owned()),
        ("SUITE_CALENDAR_URL", other.server.calendar_url()),
    ];
    stage
        .server
        .add_client(ClientSpec::new("other", stage.server.client_secret()));
    for (name, value) in others {
        let line = format!("mcp approvals approve {proposed}");
        let failed = failure(&output(stage.command(&line).env(name, value)), 1);
        assert_says(
            failed["message"].as_str().unwrap(),
            &["another origin or client ID"],
        );
    }
    for server in [&stage.server, &other.server] {
        assert_eq!(server.attempts(Operation::SubmitEventCommand), 0);
    }
    assert_eq!(statuses(&stage), (vec!["pending".to_owned()], Some(4)));
}

/// Gives the variables of a command to the installation `acme`.
fn of_acme(mut command: Command) -> Command {
    let text = |it: &OsStr| it.to_str().unwrap().to_owned();
    let all = command.get_envs();
    let all = all.filter_map(|(name, value)| Some((text(name), text(value?))));
    for (name, value) in all.collect::<Vec<_>>() {
        command.env_remove(&name).env(format!("ACME_{name}"), value);
    }
    command.args(["--installation", "acme"]);
    command
}

#[tokio::test]
async fn another_installation_has_its_own_variables() {
    let stage = Stage::new().await;
    let command = |line: &str| of_acme(stage.command(line));
    settle(&stage, command("mcp approvals run")).await;
    let mut agent = Agent::start(command("mcp"), MODERN);
    let proposed = propose(&mut agent, "Kick-off");
    let shown = printed(&output(&mut command(&format!(
        "mcp approvals show {proposed}"
    ))));
    assert_says(&shown, &["\"installation\":\"acme\""]);
    printed(&output(&mut command(&format!(
        "mcp approvals approve {proposed}"
    ))));
    // `run` sends the writes of this installation only.
    let second = propose(&mut agent, "Retro");
    let secret = stage.server.client_secret();
    forge(&stage.database(), &second, i64::MAX, Some(secret));
    settle(&stage, command("mcp approvals run")).await;
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
    let label = "UPDATE sdk_outbox SET installation = 'acme'";
    stage.database().execute(label, []).unwrap();
    settle(&stage, command("mcp approvals run")).await;
    assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 2);
    printed(&output(&mut command("mcp approvals list")));
    let mut with_secret = command("mcp");
    let failed = output(with_secret.env("ACME_SUITE_APPROVAL_SECRET", "x".repeat(16)));
    failure(&failed, 3);
}

#[tokio::test]
async fn a_rejection_during_a_second_approval_wins() {
    let stage = Stage::new().await;
    stage.register();
    let mut agent = stage.agent("--undocumented-scopes");
    let proposed = digest(&agent.propose(UNKEYED, json!({"body": {"displayName": "Amber"}})));
    let other = Operation::CreateFinancialCounterparty;
    stage.server.fault(other).times(1).lose_reply();
    not_approved(&stage, &proposed, 4);

    // The second approval has read the parked write and waits for its token.
    let slow = stage.server.fault(Operation::ExchangeToken);
    let slow = slow.delay(Duration::from_secs(2));
    let mut approve = stage.command(&format!("mcp approvals approve {proposed}"));
    let approve = approve.stdin(Stdio::null()).stderr(Stdio::piped());
    let approve = approve.spawn().unwrap();
    until(|| slow.struck() == 1).await;
    printed(&stage.approvals(&format!("reject {proposed}")));
    let failed = failure(&approve.wait_with_output().unwrap(), 1);
    let message = failed["message"].as_str().unwrap();
    assert_says(message, &["is rejected"]);
    slow.remove();
    settle(&stage, run(&stage, None)).await;
    assert_eq!(statuses(&stage), (vec!["rejected".to_owned()], Some(0)));
    let counts = (stage.server.attempts(other), stage.server.commits(other));
    assert_eq!(counts, (1, 1));
}

#[tokio::test]
async fn an_application_without_a_token_keeps_no_revoked_scope() {
    let stage = Stage::new().await;
    stage.register();
    let writes = [RECORD, "accounting_invoice_drafts_create"];
    let is_offered = |it: &&str| stage.agent("").names().iter().any(|name| name == it);
    assert!(writes.iter().all(is_offered));
    let (id, secret) = (stage.server.client_id(), stage.server.client_secret());
    let reader = ClientSpec::new(id, secret).scopes(["crm:today:read", "crm:people:read"]);
    stage.server.add_client(reader);
    let mut run = stage.command("mcp approvals run");
    run.env("SUITE_ACCOUNTING_AUDIENCE", "https://wrong.example");
    register(run);
    assert!(!writes.iter().any(is_offered));
}

#[tokio::test]
async fn options_of_the_program_may_precede_approvals_and_options_of_the_server_may_not() {
    let (stage, _agent) = started().await;
    let store = stage.store().display().to_string();
    let list = |line: &str| output(&mut stage.command(line));
    printed(&list(&format!("mcp --store {store} approvals list")));
    printed(&list(&format!("mcp approvals list --store {store}")));
    for option in ["--read-only", "--expiry 5", "--toolsets crm"] {
        let failed = failure(&list(&format!("mcp {option} approvals list")), 2);
        assert_says(failed["message"].as_str().unwrap(), &["no effect"]);
    }
}
