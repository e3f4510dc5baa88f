//! The offered tools depend on scopes, and fail closed.

use std::collections::BTreeSet;

use sdk_core::Operation as Described;
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::{Agent, EVENT, MODERN, Stage, at_peer, event};
use crate::peer::{Peer, always, reply};
use crate::programs::Folder;
use crate::programs::call::printed;
use crate::support::{answer, assert_says, is_long};

const SUBMIT: &str = "crm_commands_submit";
const PRESENTATION: &str = "crm:today:read";

/// Returns all operations that may be tools, with the names of the tools.
fn operations() -> impl Iterator<Item = (String, &'static Described)> {
    let all = [
        sdk_crm::Client::operations(),
        sdk_calendar::Client::operations(),
        sdk_accounting::Client::operations(),
        sdk_platform::Client::operations(),
    ];
    let all = all.into_iter().flatten().copied();
    let all = all.filter(|it| it.id != "exchangeToken");
    all.map(|it| (format!("{}_{}_{}", it.application, it.group, it.name), it))
}

fn all_scopes() -> Vec<&'static str> {
    let all = operations().flat_map(|(_, it)| it.scopes.iter().copied());
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the tools that these scopes grant.
fn granted(scopes: &[&str], undocumented: bool) -> Vec<String> {
    let is_granted = |it: &Described| {
        let has_scope = it.scopes.iter().any(|scope| scopes.contains(scope));
        let has_types = it.id != "submitCommand" || scopes.contains(&PRESENTATION);
        let is_known = has_scope && has_types;
        !it.authenticated || is_known || undocumented && it.scopes.is_empty()
    };
    let granted = operations().filter(|(_, it)| is_granted(it));
    let mut granted: Vec<_> = granted.map(|(name, _)| name).collect();
    let is_write =
        |(name, it): (String, &Described)| it.method.as_str() == "POST" && granted.contains(&name);
    if operations().any(is_write) {
        granted.push("approval_status".to_owned());
    }
    granted.sort();
    granted
}

/// Returns valid arguments of a read.
fn arguments(stage: &Stage, tool: &str) -> Value {
    let server = &stage.server;
    match tool {
        "crm_search_query" => json!({"q": "an"}),
        "crm_people_get" | "crm_people_timeline" => json!({"reference": server.sample_person()}),
        "crm_organizations_get" => json!({"reference": server.sample_organization()}),
        "crm_opportunities_get" => json!({"reference": server.sample_opportunity()}),
        "crm_intake_get" => json!({"reference": server.sample_intake_submission()}),
        "platform_publications_get" => {
            let (app, kind, record) = server.sample_publication();
            json!({"appId": app, "resourceType": kind, "sourceRecordId": record})
        }
        _ => json!({}),
    }
}

/// Checks that the server rejected no request for its token or scope.
fn assert_permitted(stage: &Stage, scopes: &[&str]) {
    for request in stage.server.requests() {
        let status = request.status;
        assert!(
            !matches!(status, Some(401 | 403)),
            "{scopes:?}: {request:?}"
        );
    }
}

#[tokio::test]
async fn only_tools_of_granted_scopes_are_offered_and_no_read_is_rejected_for_its_scope() {
    let default = if is_long() { 1_000 } else { 25 };
    let cases = std::env::var("SUITE_MCP_CASES").map_or(default, |it| it.parse().unwrap());
    let all = all_scopes();
    let mut sets = vec![Vec::new(), Vec::new(), all.clone(), all.clone()];
    sets.extend(all.iter().map(|it| vec![*it]));
    let mut random = fastrand::Rng::with_seed(39);
    while sets.len() < cases {
        let share = random.f64();
        let set = all.iter().copied().filter(|_| random.f64() < share);
        sets.push(set.collect());
    }
    for (at, scopes) in sets.iter().enumerate() {
        let undocumented = at % 2 == 1;
        let stage = Stage::new().await.with_agent(scopes).with_approver(scopes);
        stage.register();
        let option = if undocumented {
            "--undocumented-scopes"
        } else {
            ""
        };
        let mut agent = stage.agent(option);
        let offered = agent.names();
        assert_eq!(offered, granted(scopes, undocumented), "{scopes:?}");
        for (tool, operation) in operations().filter(|(_, it)| it.method.as_str() == "GET") {
            let called = agent.call(&tool, arguments(&stage, &tool));
            let is_offered = offered.contains(&tool);
            assert_eq!(called.is_ok(), is_offered, "{scopes:?}: {tool}: {called:?}");
            if !is_offered && operation.id != "getPresentation" {
                assert_eq!(stage.server.attempts(operation.id), 0, "{tool}");
            }
        }
        assert_permitted(&stage, scopes);
        assert_eq!(agent.end().0, Some(0));
    }
}

/// Returns a valid proposal for each write, with one record command per scope.
fn writes(stage: &Stage) -> Vec<(&'static str, Value)> {
    let created = |kind: &str, payload: Value| json!({"commandType": kind, "payload": payload});
    let submission = stage.server.sample_intake_submission();
    vec![
        (
            SUBMIT,
            created("person.create", json!({"displayName": "Ada"})),
        ),
        (
            SUBMIT,
            created("organization.create", json!({"displayName": "Ada Ltd"})),
        ),
        (SUBMIT, created("task.create", json!({"title": "Call Ada"}))),
        (
            SUBMIT,
            created(
                "opportunity.create",
                json!({"title": "A", "personReference": stage.server.sample_person()}),
            ),
        ),
        (
            "crm_intake_review",
            json!({"submissionReference": submission, "decision": "accept"}),
        ),
        (EVENT, event("Kick-off")["body"].take()),
        ("calendar_holds_manage", json!({"operation": "create"})),
        (
            "calendar_attendance_respond",
            json!({"publicReference": "EVT-0123456789AB"}),
        ),
        (
            "calendar_recurrence_change",
            json!({"publicReference": "EVT-0123456789AB"}),
        ),
        (
            "accounting_counterparties_create",
            json!({"displayName": "Ada Ltd"}),
        ),
        (
            "accounting_invoice_drafts_create",
            json!({
                "schemaVersion": "suite-accounting-invoice-draft-create.v1", "lines": [{"description": "Workshop"}],
                "counterpartyReference": stage.server.sample_counterparty(),
                "taxAmount": {"currency": "EUR", "minorUnits": "1900", "scale": 2},
            }),
        ),
        (
            "accounting_import_runs_create",
            json!({
                "schemaVersion": "suite-accounting-import-create.v1", "adapterId": "a", "mode": "opening_balances",
                "adapterContractVersion": "suite-accounting-adapter.v1", "adapterImplementationVersion": "1.0.0",
                "sourceApplication": {"name": "legacy"}, "intendedCoverage": {"from": "2026-01-01"},
            }),
        ),
        ("accounting_approval_intents_create", json!({})),
    ]
}

fn types(agent: &mut Agent) -> Value {
    let tools = agent.tools();
    let submit = tools.iter().find(|it| it["name"] == SUBMIT).unwrap();
    submit["inputSchema"]["properties"]["body"]["properties"]["commandType"]["enum"].clone()
}

#[tokio::test]
async fn the_approvers_scopes_decide_on_writes_and_no_approved_write_is_rejected_for_its_scope() {
    let tasks = ["crm:tasks:write", PRESENTATION];
    let all = all_scopes();
    for scopes in [
        &all[..],
        &tasks,
        &["calendar:event:write", "crm:intake:review"],
        &[],
    ] {
        let reads = all.iter().copied().filter(|it| it.ends_with(":read"));
        let stage = Stage::new().await.with_agent(&reads.collect::<Vec<_>>());
        let stage = stage.with_approver(scopes);
        stage.register();
        // Only the approver's credential could send an operation of undocumented scope.
        let mut agent = stage.agent("--undocumented-scopes");
        let offered = agent.names();
        for (tool, body) in writes(&stage) {
            let kind = body["commandType"].as_str().unwrap_or_default().to_owned();
            let proposed = agent.call(tool, json!({"body": body}));
            let is_offered = granted(scopes, true).contains(&tool.to_owned());
            assert_eq!(
                offered.contains(&tool.to_owned()),
                is_offered,
                "{scopes:?}: {tool}"
            );
            let is_permitted =
                is_offered && (scopes != tasks || !kind.contains('.') || kind == "task.create");
            assert_eq!(
                proposed.is_ok(),
                is_permitted,
                "{scopes:?}: {tool} {kind} {proposed:?}"
            );
            let Ok(proposed) = proposed else {
                continue;
            };
            let proposed: Value = serde_json::from_str(&proposed[0]).unwrap();
            let digest = proposed["digest"].as_str().unwrap();
            let (_, operation) = operations().find(|(it, _)| it == tool).unwrap();
            let before = stage.server.attempts(operation.id);
            let approved = stage.approvals(&format!("approve {digest}"));
            if !tool.contains("attendance") && !tool.contains("recurrence") {
                printed(&approved);
            }
            assert_eq!(stage.server.attempts(operation.id), before + 1, "{tool}");
        }
        if scopes == tasks {
            let expected = ["task.assign", "task.complete", "task.create", "task.update"];
            assert_eq!(types(&mut agent), json!(expected));
        }
        assert_permitted(&stage, scopes);
        assert_eq!(agent.end().0, Some(0));
    }
}

#[test]
fn without_a_list_of_scopes_only_tools_without_a_scope_are_offered() {
    let folder = Folder::new("mcp-unknown");
    // The peer's tokens have no list of scopes.
    let peer = Peer::start(always(reply(200).body("{}")));
    for (line, undocumented) in [("", false), ("--undocumented-scopes", true)] {
        let command = at_peer(&peer, &folder, &format!("mcp {line}"));
        let mut agent = Agent::start(command, MODERN);
        let mut expected = granted(&[], undocumented);
        let is_read = |it: &Described| it.method.as_str() == "GET";
        expected
            .retain(|name| operations().any(|(it, operation)| it == *name && is_read(operation)));
        assert_eq!(agent.names(), expected);
        let failed = agent.call("crm_people_list", json!({})).unwrap_err();
        assert_says(&failed, &["the granted scopes are unknown"]);
        assert_eq!(agent.end().0, Some(0));
    }
    assert!(peer.requests().is_empty());
    assert!(!peer.exchanges().is_empty());
}

#[tokio::test]
async fn without_command_types_in_the_presentation_no_record_command_is_offered() {
    let stage = Stage::new().await;
    answer(
        &stage.server,
        Operation::GetPresentation,
        r#"{"schemaVersion": "suite-crm-presentation.v1", "actions": []}"#,
    );
    stage.register();
    let mut agent = stage.agent("");
    let names = agent.names();
    assert!(
        names.contains(&EVENT.to_owned()) && !names.contains(&SUBMIT.to_owned()),
        "{names:?}"
    );
    let command = json!({"body": {"commandType": "task.create", "payload": {"title": "A"}}});
    assert_says(
        &agent.call(SUBMIT, command).unwrap_err(),
        &["is not offered"],
    );
    assert_eq!(agent.end().0, Some(0));
}
