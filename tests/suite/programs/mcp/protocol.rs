//! Subscriptions, cancellation, faults, secrets, and the protection of approvals.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::{Agent, EVENT, LEGACY, MODERN, Stage, at_peer, event, register, token_with};
use crate::peer::{self, Peer, always, script};
use crate::programs::call::{failure, printed};
use crate::programs::{Folder, output, suite};
use crate::support::{assert_says, until};

const LIST: &str = "crm_people_list";

impl Agent {
    /// Waits for a notification of this method, about this URI if it is not empty.
    fn notified(&mut self, method: &str, uri: &str) {
        let is_it =
            |it: &Value| it["method"] == method && (uri.is_empty() || it["params"]["uri"] == uri);
        while !self.notifications.iter().any(is_it) {
            let message = self.next();
            self.notifications.push(message);
        }
    }

    /// Subscribes to a resource, and returns the ID of the request.
    fn subscribe(&mut self, uri: &str) -> u64 {
        if self.protocol == LEGACY {
            self.request("resources/subscribe", json!({"uri": uri}));
            return self.requests;
        }
        self.notifications.clear();
        let filter = json!({"notifications": {"resourceSubscriptions": [uri]}});
        let id = self.send("subscriptions/listen", filter);
        self.notified("notifications/subscriptions/acknowledged", "");
        id
    }

    fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id});
        let cancelled = "notifications/cancelled";
        self.write(&json!({"jsonrpc": "2.0", "method": cancelled, "params": params}));
    }

    fn status(&mut self, digest: &str) -> Vec<String> {
        self.call("approval_status", json!({"digest": digest}))
            .unwrap()
    }
}

#[tokio::test]
async fn a_subscription_notifies_of_each_decision_until_it_ends() {
    for protocol in [LEGACY, MODERN] {
        let stage = Stage::new().await;
        stage.register();
        let mut agent = stage.agent_with("", protocol);
        let mut propose = |title| {
            let proposed = agent.propose(EVENT, event(title));
            let text = |name: &str| proposed[name].as_str().unwrap().to_owned();
            (text("digest"), text("resource"))
        };
        let (approved, ended, rejected) = (propose("A"), propose("B"), propose("C"));

        let subscription = agent.subscribe(&ended.1);
        if protocol == LEGACY {
            agent.request("resources/unsubscribe", json!({"uri": ended.1}));
        } else {
            agent.cancel(subscription);
        }
        agent.subscribe(&approved.1);
        printed(&stage.approvals(&format!("reject {}", ended.0)));
        printed(&stage.approvals(&format!("approve {}", approved.0)));
        let updated = "notifications/resources/updated";
        agent.notified(updated, &approved.1);
        let read = agent.request("resources/read", json!({"uri": approved.1}));
        let read = read["contents"].as_array().unwrap();
        let texts = read.iter().map(|it| it["text"].as_str().unwrap());
        let texts: Vec<&str> = texts.collect();
        assert_eq!(agent.status(&approved.0), texts);
        assert_says(texts[0], &["\"status\":\"done\"", "\"replayed\":false"]);
        assert_says(texts[1], &["publicReference"]);

        // This subscription begins after the rejection above, and notifies after its second look, so an active
        // subscription to the other proposal would have notified, too.
        let old = std::mem::take(&mut agent.notifications);
        let last = agent.subscribe(&rejected.1);
        printed(&stage.approvals(&format!("reject {}", rejected.0)));
        agent.notified(updated, &rejected.1);
        for (digest, _) in [&rejected, &ended] {
            assert_says(&agent.status(digest)[0], &["\"status\":\"rejected\""]);
        }
        let mut all = old.iter().chain(&agent.notifications);
        assert!(!all.any(|it| it["params"]["uri"] == *ended.1));
        assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 1);
        agent.cancel(last);
        assert_eq!(agent.end().0, Some(0));
    }
}

#[tokio::test]
async fn a_cancelled_read_ends_and_the_next_call_succeeds() {
    for protocol in [LEGACY, MODERN] {
        let stage = Stage::new().await;
        stage.server.fault(Operation::ListPeople).stall();
        let mut agent = stage.agent_with("", protocol);
        let call = json!({"name": LIST, "arguments": {}});
        let id = agent.send("tools/call", call);
        until(|| stage.server.attempts(Operation::ListPeople) == 1).await;
        agent.cancel(id);
        agent.call("crm_tasks_list", json!({})).unwrap();
        assert!(agent.notifications.iter().all(|it| it["id"] != id));
        let began = Instant::now();
        assert_eq!(agent.end().0, Some(0));
        assert!(began.elapsed() < Duration::from_secs(10), "the read ended");
    }
}

#[tokio::test]
async fn eight_calls_run_concurrently() {
    let pages = (0..8).map(|it| peer::json(200, &json!({"items": [it]})).held());
    let token = token_with("crm:people:read");
    let peer = Peer::start(script(pages).tokens_always(token));
    let folder = Folder::new("mcp-many");
    let mut agent = Agent::start(at_peer(&peer, &folder, "mcp"), MODERN);
    let call = json!({"name": LIST, "arguments": {}});
    let mut ids: Vec<_> = (0..8)
        .map(|_| agent.send("tools/call", call.clone()))
        .collect();
    peer.saw(8).await;
    peer.release(8);
    let mut bodies = Vec::new();
    while !ids.is_empty() {
        let message = agent.next();
        ids.retain(|it| message["id"] != *it);
        bodies.push(message["result"]["content"][0]["text"].to_string());
    }
    bodies.sort();
    let expected: Vec<_> = (0..8)
        .map(|it| format!(r#""{{\"items\":[{it}]}}""#))
        .collect();
    assert_eq!(bodies, expected);
    assert_eq!(agent.end().0, Some(0));
}

#[tokio::test]
async fn malformed_messages_leave_the_process_usable() {
    use std::io::Write as _;

    for protocol in [LEGACY, MODERN] {
        let stage = Stage::new().await;
        let mut agent = stage.agent_with("", protocol);
        for line in ["{", "text", "[]", "{}", "null", "\u{202e}", ""] {
            writeln!(agent.input, "{line}").unwrap();
        }
        let is_error = |it: &Value| it["code"].is_i64() || it["isError"] == true;
        for (method, params) in [
            ("tools/unknown", json!({})),
            ("resources/read", json!({"uri": "file:///etc/passwd"})),
            ("resources/read", json!({})),
            ("tools/call", json!({"name": "unknown", "arguments": {}})),
            ("tools/call", json!({"name": 5})),
            ("tools/call", json!({"name": LIST, "arguments": []})),
            ("tools/call", json!({"name": LIST, "arguments": "limit"})),
            (
                "tools/call",
                json!({"name": LIST, "arguments": {"limit": {}}}),
            ),
        ] {
            let shown = params.to_string();
            let response = agent.request(method, params);
            assert!(is_error(&response), "{method} {shown}: {response}");
        }
        assert_eq!(stage.server.attempts(Operation::ListPeople), 0);
        agent.call(LIST, json!({})).unwrap();
        assert_eq!(stage.server.attempts(Operation::ListPeople), 1);
        assert_eq!(agent.end().0, Some(0));
    }
}

#[tokio::test]
async fn faults_of_the_suite_are_errors_of_calls() {
    let stage = Stage::new().await;
    let server = &stage.server;
    server.fault(Operation::ListPeople).status(503);
    server.fault(Operation::ListOrganizations).break_body();
    server.fault(Operation::ListOpportunities).lose_reply();
    server.fault(Operation::Search).close_connection();
    let bytes = server.fault(Operation::GetActors);
    bytes.body(vec![b'"', 0xff, b'"'], "application/json");
    server.fault(Operation::GetToday).status(404);
    let tools = [
        LIST,
        "crm_organizations_list",
        "crm_opportunities_list",
        "crm_search_query",
        "crm_actors_list",
        "crm_today_get",
    ];
    let mut agent = stage.agent("");
    let mut calls = tools.map(|tool| {
        let arguments = match tool {
            "crm_search_query" => json!({"q": "an"}),
            _ => json!({}),
        };
        let call = json!({"name": tool, "arguments": arguments});
        agent.send("tools/call", call)
    });
    for _ in tools {
        let message = agent.next();
        assert_eq!(message["result"]["isError"], true, "{message}");
        let id = calls.iter_mut().find(|it| message["id"] == **it);
        *id.expect("one response for each call") = 0;
    }
    server.clear_faults();
    agent.call(LIST, json!({})).unwrap();
    assert_eq!(agent.end().0, Some(0));
}

#[tokio::test]
async fn without_tokens_only_public_tools_are_offered() {
    let stage = Stage::new().await;
    let fault = stage.server.fault(Operation::ExchangeToken).status(503);
    let mut agent = stage.agent("");
    let public = [
        "accounting_service_meta",
        "crm_service_health",
        "crm_service_meta",
        "crm_service_ready",
    ];
    assert_eq!(agent.names(), public);
    agent.call("crm_service_health", json!({})).unwrap();
    let failed = agent.call(LIST, json!({})).unwrap_err();
    assert_says(&failed, &["is not offered"]);
    fault.remove();
    // The SDK waits after failed token requests.
    let agent = RefCell::new(agent);
    until(|| agent.borrow_mut().call(LIST, json!({})).is_ok()).await;
    let (status, messages) = agent.into_inner().end();
    assert_eq!(status, Some(0));
    assert_says(&messages, &["crm: "]);
}

#[tokio::test]
async fn the_process_does_not_start_with_the_approvers_secret() {
    let stage = Stage::new().await;
    for name in [
        "SUITE_APPROVAL_SECRET",
        "ACME_SUITE_APPROVAL_SECRET_FILE",
        "MY_SUITE_APPROVAL_SECRET",
    ] {
        let mut command = stage.command("mcp");
        let rejected = output(command.env(name, "0123456789abcdef"));
        let message = failure(&rejected, 3).to_string();
        assert_says(&message, &[name, "must not have"]);
        assert!(!message.contains("0123456789abcdef"));
        assert!(rejected.stdout.is_empty());
    }
    assert!(stage.server.requests().is_empty());
}

#[test]
fn no_output_and_no_file_has_a_secret_or_a_token() {
    let secrets = [
        "client-7f3a9c".to_owned(),
        "token-8c41e07b".to_owned(),
        BASE64_STANDARD.encode("of-a-test:client-7f3a9c"),
    ];
    let echo = json!({"code": secrets[0], "message": secrets.join(" ")});
    let token_error = json!({"error": "invalid_client", "error_description": secrets[0]});
    let token = token_with("crm:people:read calendar:event:write");
    let peer = Peer::start(always(peer::json(422, &echo)).tokens_always(token));
    let folder = Folder::new("mcp-secrets");
    let command = |line: &str| {
        let mut command = at_peer(&peer, &folder, line);
        command.env("SUITE_CLIENT_SECRET", &secrets[0]);
        command
    };
    let mut outputs = Vec::new();
    register(command("mcp approvals run"));
    let mut agent = Agent::start(command("mcp"), MODERN);
    outputs.push(agent.call(LIST, json!({})).unwrap_err());
    let proposed = agent.propose(EVENT, event("A"));
    let digest = proposed["digest"].as_str().unwrap().to_owned();
    for line in [
        format!("show {digest}"),
        format!("approve {digest}"),
        "list".to_owned(),
    ] {
        let run = output(&mut command(&format!("mcp approvals {line}")));
        outputs.extend([run.stdout, run.stderr].map(|it| String::from_utf8(it).unwrap()));
    }
    outputs.extend(agent.status(&digest));
    outputs.push(proposed.to_string());
    let (status, messages) = agent.end();
    assert_eq!(status, Some(0));
    outputs.push(messages);
    let rejecting = Peer::start(script([]).tokens_always(peer::json(400, &token_error)));
    let mut rejected = at_peer(&rejecting, &folder, "mcp");
    rejected.env("SUITE_CLIENT_SECRET", &secrets[0]);
    let mut rejected = Agent::start(rejected, MODERN);
    rejected.names();
    let (status, messages) = rejected.end();
    assert_eq!(status, Some(0));
    assert_says(&messages, &["invalid_client"]);
    outputs.push(messages);
    for file in folder.names() {
        let bytes = std::fs::read(folder.file(&file)).unwrap();
        outputs.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    let of = |method: &str| {
        peer.requests()
            .iter()
            .filter(|it| it.method == method)
            .count()
    };
    assert_eq!((of("GET"), of("POST")), (1, 1));
    assert_eq!(peer.requests()[0].bearer(), Some("token-8c41e07b"));
    for (at, shown) in outputs.iter().enumerate() {
        for secret in &secrets {
            assert!(!shown.contains(secret), "{at}: {secret} in {shown}");
        }
    }
}

#[tokio::test]
async fn doctor_reports_approvals_that_nothing_protects() {
    let reads = [
        "crm:people:read",
        "accounting:counterparties:read",
        "suite.apps:read",
    ];
    let one = Stage::new().await;
    let two = Stage::new().await.with_agent(&reads);
    for (stage, level, expected) in [(one, "problem", "none"), (two, "ok", "two credentials")] {
        stage.register();
        let mut agent = stage.agent_command("");
        // No scope of the contract permits only reads of the Calendar.
        agent.env_remove("SUITE_CALENDAR_URL");
        let mut agent = Agent::start(agent, MODERN);
        agent.names();
        let count = "SELECT count(*) FROM suite_party";
        let parties = || stage.database().query_row(count, [], |it| it.get(0));
        until(|| parties() == Ok(2)).await;
        assert_eq!(agent.end().0, Some(0));
        let report = output(&mut stage.command("doctor --output json"));
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let is_it = |it: &&Value| it["found"].to_string().contains("protection of approvals");
        let found: Vec<_> = findings.iter().filter(is_it).collect();
        assert_eq!(
            (found.len(), &found[0]["level"]),
            (1, &level.into()),
            "{found:?}"
        );
        let found = found[0]["found"].as_str().unwrap();
        assert!(
            found.starts_with(&format!("protection of approvals: {expected}")),
            "{found}"
        );
    }
}

#[test]
fn the_demo_offers_reads_only() {
    let folder = Folder::new("mcp-demo");
    let mut demo = suite();
    demo.args(["--demo", "mcp"])
        .env("XDG_STATE_HOME", &folder.0);
    let mut agent = Agent::start(demo, MODERN);
    let tools = agent.tools();
    let is_read = |it: &Value| it["annotations"]["readOnlyHint"] == true;
    assert!(tools.len() > 15 && tools.iter().all(is_read));
    let page = agent.call(LIST, json!({"limit": 1})).unwrap();
    assert_says(&page[0], &["publicReference"]);
    let failed = agent.call(EVENT, event("A")).unwrap_err();
    assert_says(&failed, &["is not offered"]);
    assert_eq!(agent.end().0, Some(0));
}
