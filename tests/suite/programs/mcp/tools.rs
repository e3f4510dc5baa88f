//! The offered tools, reads, and the local checks of arguments.

use std::collections::BTreeSet;

use regex::Regex;
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::{Agent, EVENT, LEGACY, MODERN, Stage, at_peer, event, token_with};
use crate::peer::{Peer, always, reply, script};
use crate::programs::call::failure;
use crate::programs::{Folder, output};
use crate::support::assert_says;

const LIST: &str = "crm_people_list";

#[tokio::test]
async fn both_eras_of_the_protocol_list_the_tools_read_and_propose() {
    for protocol in [LEGACY, MODERN] {
        let stage = Stage::new().await;
        stage.register();
        let mut agent = stage.agent_with("", protocol);
        assert!(agent.names().contains(&EVENT.to_owned()));
        let page = agent.call(LIST, json!({"limit": 2})).unwrap();
        assert_eq!(stage.server.attempts(Operation::ListPeople), 1);
        let page: Value = serde_json::from_str(&page[0]).unwrap();
        assert_eq!(page["items"].as_array().unwrap().len(), 2);

        let proposed = agent.propose(EVENT, event("Kick-off"));
        assert_eq!(proposed["status"], "pending");
        assert_eq!(stage.server.attempts(Operation::SubmitEventCommand), 0);
        assert_eq!(agent.end().0, Some(0));
    }
}

/// The keywords that an input schema may have, apart from `type`.
const KEYWORDS: &str = "properties required additionalProperties items enum pattern format default minimum maximum \
    minLength maxLength minItems maxItems description examples";

/// Checks a schema without references by the rules of JSON Schema.
fn check_schema(schema: &Value, tool: &str) {
    for (keyword, value) in schema.as_object().expect(tool) {
        let types = "string integer number boolean object array null";
        let is_valid = match keyword.as_str() {
            "type" => match value {
                Value::Array(all) => all
                    .iter()
                    .all(|it| types.contains(it.as_str().unwrap_or("?"))),
                one => types.contains(one.as_str().unwrap_or("?")),
            },
            "properties" => {
                let fields = value.as_object().expect(tool);
                fields.values().for_each(|it| check_schema(it, tool));
                true
            }
            "items" => {
                check_schema(value, tool);
                true
            }
            "required" => {
                let mut names = value.as_array().expect(tool).iter();
                names.all(|it| schema["properties"].get(it.as_str().unwrap()).is_some())
            }
            "enum" | "examples" => !value.as_array().expect(tool).is_empty(),
            "pattern" => Regex::new(value.as_str().expect(tool)).is_ok(),
            other => KEYWORDS.split(' ').any(|it| it == other),
        };
        assert!(is_valid, "{tool}: {keyword}: {value}");
    }
}

#[tokio::test]
async fn all_tools_fit_into_25_kilobytes_and_have_complete_schemas() {
    let stage = Stage::new().await;
    stage.register();
    let mut agent = stage.agent("--undocumented-scopes");
    let list = agent.request("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 38, "37 operations and the status");
    assert!(
        list.to_string().len() <= 25_000,
        "{}",
        list.to_string().len()
    );
    assert!(!list.to_string().contains("$ref"));
    let pattern = Regex::new("^[a-z0-9_]{1,64}$").unwrap();
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(pattern.is_match(name) && !name.contains("token"), "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        check_schema(&tool["inputSchema"], name);
    }
    let is_read = |it: &&Value| it["annotations"]["readOnlyHint"] == true;
    assert_eq!(
        tools.iter().filter(is_read).count(),
        28,
        "27 reads and the status"
    );
    let again = agent.request("tools/list", json!({}));
    assert_eq!(list["tools"], again["tools"], "clients cache the list");
    assert_eq!(agent.end().0, Some(0));
}

#[tokio::test]
async fn options_select_the_tools() {
    let stage = Stage::new().await;
    stage.register();
    let reads = ["crm_people_get", LIST, "crm_people_timeline"];
    for (line, expected) in [
        ("--toolsets crm.people", &reads[..]),
        (
            "--toolsets calendar.events,crm.funnel --tools crm_people_list",
            &["approval_status", EVENT, "crm_funnel_get", LIST],
        ),
        ("--read-only --toolsets calendar.events,crm.people", &reads),
        ("--read-only --tools calendar_events_command", &[]),
    ] {
        let mut agent = stage.agent(line);
        assert_eq!(agent.names(), expected, "{line}");
        for (tool, arguments) in [
            ("crm_tasks_list", json!({})),
            ("platform_oauth_token", event("A")),
        ] {
            let failed = agent.call(tool, arguments).unwrap_err();
            assert_says(&failed, &[tool, "is not offered"]);
        }
        assert_eq!(agent.end().0, Some(0));
    }
    for line in [
        "--toolsets crm,payroll",
        "--tools crm_people_lst",
        "--tools platform_oauth_token",
        "--max-result 1000",
        "--expiry 1441",
    ] {
        let rejected = output(&mut stage.command(&format!("mcp {line}")));
        assert_eq!(rejected.status.code(), Some(2), "{line}");
        assert!(rejected.stdout.is_empty());
    }
    let rejected = output(&mut stage.command("mcp --toolsets crm,payroll"));
    let message = failure(&rejected, 2)["message"].to_string();
    assert_says(&message, &["payroll", "calendar.events", "crm.people"]);
    assert_eq!(stage.server.attempts(Operation::ListTasks), 0);
}

/// A token that permits reading people.
const SCOPES: &str = "crm:people:read";

fn agent_at(peer: &Peer, folder: &Folder, line: &str) -> Agent {
    Agent::start(at_peer(peer, folder, &format!("mcp {line}")), MODERN)
}

#[test]
fn a_read_returns_the_exact_bytes() {
    let bodies = [
        r#"{ "items":[{"a" : 1.10,"b":12345678901234567890,"c":1e2,"a":-0.0}],"nextCursor":null}"#,
        "\r\n{\"items\": [\"\\u00fc\\/ü\u{202e}\"],\t\"z\": 1, \"a\": 100.00}\n\n",
        r#"{"items": [{"huge": 1e400, "tiny": 0.1000000000000000055511151231257827}]}"#,
    ];
    let steps = bodies.map(|it| {
        reply(200)
            .header("content-type", "application/json")
            .body(it)
    });
    let folder = Folder::new("mcp-bytes");
    let peer = Peer::start(script(steps).tokens_always(token_with(SCOPES)));
    let mut agent = agent_at(&peer, &folder, "");
    for body in bodies {
        assert_eq!(agent.call(LIST, json!({})).unwrap(), [body]);
    }
    assert_eq!(peer.requests().len(), 3);
    assert_eq!(agent.end().0, Some(0));
}

#[tokio::test]
async fn a_list_in_small_results_has_every_record_once() {
    let stage = Stage::new().await;
    let records = |most: usize| {
        let agent = stage.agent(&format!("--max-result {most}"));
        let (mut agent, mut records, mut cuts) = (agent, Vec::new(), 0);
        let mut arguments = json!({"limit": 50});
        loop {
            let page = agent.call(LIST, arguments.clone()).unwrap();
            if let Some(note) = page.get(1) {
                assert_says(note, &["was cut to", "nextCursor"]);
                cuts += 1;
            }
            let read: Value = serde_json::from_str(&page[0]).unwrap();
            assert!(page[0].len() <= most);
            records.extend(read["items"].as_array().unwrap().clone());
            if read["nextCursor"].is_null() {
                return (records, cuts);
            }
            arguments["cursor"] = read["nextCursor"].clone();
        }
    };
    let (all, uncut) = records(64 << 10);
    assert_eq!(uncut, 0);
    let (cut, cuts) = records(2_000);
    assert!(cuts > 5, "{cuts}");
    assert_eq!(cut, all);
    let references = all.iter().map(|it| it["publicReference"].as_str());
    assert_eq!(references.collect::<BTreeSet<_>>().len(), all.len());
}

#[test]
fn a_record_above_the_limit_is_an_error_with_both_sizes() {
    let body = json!({"items": ["x".repeat(3_000)], "nextCursor": null}).to_string();
    let folder = Folder::new("mcp-large");
    let page = reply(200)
        .header("content-type", "application/json")
        .body(&*body);
    let peer = Peer::start(always(page).tokens_always(token_with(SCOPES)));
    let mut agent = agent_at(&peer, &folder, "--max-result 2048");
    let failed = agent.call(LIST, json!({})).unwrap_err();
    assert_says(&failed, &[&body.len().to_string(), "2048", "--max-result"]);
    assert_eq!(peer.requests().len(), 1);
    assert_eq!(agent.end().0, Some(0));
}

/// Wrong arguments of tools, and parts of the message.
const WRONG: &str = r#"
    crm_people_list {"limit": 51} -> limit must be 1 to 50: got 51
    crm_people_list {"limit": "ten"} -> limit must be an integer: got ten
    crm_people_list {"limit": 1.5} -> limit must be a string or an integer: got 1.5
    crm_people_list {"limit": [1]} -> limit must be a string or an integer: got [1]
    crm_people_list {"color": 1} -> color is not an argument
    crm_search_query {"q": "a"} -> q must have 2 to ; got 1
    crm_search_query {} -> q is required
    crm_intake_list {"status": "accepted", "state": "final"} -> status and state must not be set together
    crm_intake_list {"state": "open"} -> state must be one of pending, final, all: got open
    crm_people_get {"reference": "PER-1"} -> reference must match ; got PER-1
    crm_people_get {"reference": null} -> reference is required
    calendar_events_command {} -> body is required
    calendar_events_command {"body": "text"} -> body must be of type object: got "text"
    crm_commands_submit {"body": {}} -> body.commandType must be one of activity.record, ; got
    crm_commands_submit {"body": {"commandType": "task.delete"}} -> body.commandType must be one of ; got task.delete
    approval_status {"digest": 1} -> there is no proposal
    approval_status {"digest": "0000"} -> there is no proposal 0000"#;

/// Wrong fields of an event.
const WRONG_FIELDS: &str = r#"
    {"x": 1.5} -> body.x must be an integer of at most 2^53, or a string ; got 1.5
    {"x": 1e2} -> body.x must be an integer ; got 100.0
    {"x": [0, {"y": 9007199254740993}]} -> body.x[1].y must be an integer ; got 9007199254740993
    {"x": -9007199254740993} -> body.x must be an integer ; got -9007199254740993
    {"startsAt": "today"} -> body.startsAt must be a time ; got today"#;

#[tokio::test]
async fn wrong_arguments_are_rejected_before_anything_is_sent() {
    let stage = Stage::new().await;
    stage.register();
    let mut agent = stage.agent("");
    agent.names();
    let before = stage.server.requests().len();
    let mut rejects = |tool: &str, arguments: Value, rule: &str| {
        let shown = arguments.to_string();
        let failed = agent.call(tool, arguments).expect_err(&shown);
        assert_says(&failed, &rule.split(" ; ").collect::<Vec<_>>());
    };
    for line in WRONG.trim().lines() {
        let (call, rule) = line.split_once(" -> ").unwrap();
        let (tool, arguments) = call.trim().split_once(' ').unwrap();
        rejects(tool, arguments.parse().unwrap(), rule);
    }
    for line in WRONG_FIELDS.trim().lines() {
        let (fields, rule) = line.split_once(" -> ").unwrap();
        let fields: Value = fields.parse().unwrap();
        let (name, value) = fields.as_object().unwrap().iter().next().unwrap();
        let mut arguments = event("A");
        arguments["body"][name] = value.clone();
        rejects(EVENT, arguments, rule);
    }
    let mut long = event("A");
    long["intent"] = "a".repeat(501).into();
    rejects(EVENT, long, "intent must be a string of at most 500 ");
    let mut large = event("A");
    large["body"]["description"] = "a".repeat(65_536).into();
    rejects(EVENT, large, "body must have at most 65536 bytes ; got 65");

    assert_eq!(stage.server.requests().len(), before);
    let proposals = || -> u32 {
        let count = "SELECT count(*) FROM suite_proposal";
        let database = stage.database();
        database.query_row(count, [], |it| it.get(0)).unwrap()
    };
    assert_eq!(proposals(), 0);
    // The largest integer that every client preserves.
    let mut largest = event("A");
    largest["body"]["x"] = 9_007_199_254_740_992_u64.into();
    agent.propose(EVENT, largest);
    assert_eq!(proposals(), 1);
    assert_eq!(agent.end().0, Some(0));
}
