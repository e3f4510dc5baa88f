//! Scripted faults.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use sdk_reference_server::{App, Operation, ReferenceServer, Transport};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::peer::{Peer, rows};
use crate::rows::filled;

const PEOPLE: &str = "/api/crm/v1/people";

const TRANSPORTS: [Transport; 3] = [Transport::Wiremock, Transport::Hyper, Transport::InMemory];

/// Effects on a command, the transports that support them (first letters), the outcome, a part of the response, and
/// the number of commits.
const EFFECTS: &str = r#"
    {"status": 503, "retryAfter": 7} | WHI | 503 | retry-after: 7 | 0
    {"status": 429, "retryAfter": "soon"} | WHI | 429 | retry-after: soon | 0
    {"status": 500} | WHI | 500 | scripted_fault | 0
    {"status": 204} | WHI | 204 | empty | 0
    {"status": 302, "headers": {"location": "http://elsewhere.invalid/"}} | WHI | 302 | location: http://elsewhere.invalid/ | 0
    {"revokeToken": true} | WHI | 401 | www-authenticate: Bearer | 0
    {"refuseConnection": true} | I | no response | | 0
    {"closeConnection": true} | WHI | no response | | 0
    {"loseReply": true} | WHI | no response | | 1
    {"stall": true} | HI | pending | | 1
    {"replyAfterCommitWith": 503} | WHI | 503 | service_unavailable | 1
    {"replyAfterCommitWith": 204} | WHI | 204 | empty | 1
    {"headers": {"x-a": "b"}} | WHI | 201 | x-a: b | 1
    {"body": {"text": "<html>", "mediaType": "text/html"}} | WHI | 201 | content-type: text/html | 1
    {"body": {"text": "<html>"}} | WHI | 201 | other: <html> | 1
    {"truncateBody": true} | WHI | 201 | other: { | 1
    {"breakBody": true} | HI | broken | | 1
    {"delaySeconds": 0.05} | WHI | 201 | late | 1
    {"dripBody": {"bytes": 30, "pauseSeconds": 0.02}} | HI | 201 | late, in pieces | 1
    {"unknownMember": true} | WHI | 201 | "memberFromTheFuture":{ | 1
"#;

/// Sends a request, and returns its outcome and its response as a string.
async fn outcome(peer: &Peer, request: RequestBuilder) -> (String, String) {
    let began = Instant::now();
    let Some(mut response) = peer.respond(request).await else {
        return ("no response".to_owned(), String::new());
    };
    let status = response.status().as_str().to_owned();
    let mut text = String::new();
    for (name, value) in response.headers() {
        writeln!(text, "{name}: {}", value.to_str().unwrap()).unwrap();
    }
    let (mut body, mut pieces) = (Vec::new(), 0);
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(_) => return ("broken".to_owned(), text),
        }
        pieces += 1;
    }
    if began.elapsed() >= Duration::from_millis(50) {
        text += "late";
    }
    if pieces > 1 {
        text += ", in pieces";
    }
    let kind = match serde_json::from_slice::<Value>(&body) {
        _ if body.is_empty() => "empty",
        Ok(_) => "json",
        Err(_) => "other",
    };
    write!(text, "\n{kind}: {}", String::from_utf8_lossy(&body)).unwrap();
    (status, text)
}

#[tokio::test]
async fn each_effect_has_its_response_and_its_commits() {
    for transport in TRANSPORTS {
        let builder = ReferenceServer::builder().transport(transport);
        let peer = Peer::of(builder.start().await);
        for [then, transports, expected, part, made] in rows(EFFECTS) {
            if !transports.contains(&format!("{transport:?}")[..1]) {
                continue;
            }
            let token = peer.token(App::Crm).await;
            let task = json!({"commandType": "task.create", "payload": {"title": then}});
            let send = || {
                let request = peer.posting(App::Crm, "/api/crm/v1/commands", &task);
                outcome(&peer, request.bearer_auth(&token))
            };
            let before = peer.server.commits("submitCommand");
            let fault = format!(
                r#"{{"faults": [{{"operation": "submitCommand", "when": {{"times": 1}}, "then": {then}}}]}}"#
            );
            peer.server.load_faults(&fault).unwrap();
            let committed = async {
                while peer.server.commits("submitCommand") == before {
                    tokio::task::yield_now().await;
                }
                // A response would have arrived by now.
                sleep(Duration::from_millis(50)).await;
            };
            let (seen, text) = tokio::select! {
                response = send() => response,
                () = committed, if expected == "pending" => (expected.to_owned(), String::new()),
            };
            let commits = peer.server.commits("submitCommand") - before;
            let context = format!("{transport:?} {then}: {text}");
            assert_eq!(
                (&*seen, &*commits.to_string()),
                (expected, made),
                "{context}"
            );
            assert!(text.contains(part), "{context}");
            // Resending the command shows whether the server applied it.
            let again = match (seen.as_str(), made) {
                ("401", _) => "401",
                (_, "1") => "200",
                _ => "201",
            };
            assert_eq!(send().await.0, again, "{context}");
        }
    }
}

const SCHEDULES: &str = r#"
    {"skip": 1, "times": 2} | 200 503 503 200
    {"every": 2} | 503 200 503 200
    {"skip": 1, "every": 2, "times": 2} | 200 503 200 503 200 200 200
    {"probability": 1.0, "seed": 1} | 503 503
    {"probability": 0.0} | 200 200
"#;

#[tokio::test]
async fn a_schedule_selects_the_requests_that_a_fault_strikes() {
    let peer = Peer::of(ReferenceServer::in_memory());
    for [when, expected] in rows(SCHEDULES) {
        let faults = format!(
            r#"{{"faults": [{{"operation": "listPeople", "when": {when}, "then": {{"status": 503}}}}]}}"#
        );
        let fault = peer.server.load_faults(&faults).unwrap().remove(0);
        let mut seen = Vec::new();
        for _ in expected.split(' ') {
            seen.push(peer.crm("/people").await.status.to_string());
        }
        assert_eq!(seen.join(" "), expected, "{when}");
        assert_eq!(fault.struck(), expected.matches("503").count() as u64);
        fault.remove();
    }
    let all = SCHEDULES.matches("503").count();
    assert_eq!(peer.server.fault_log().len(), all);
    let all = all + SCHEDULES.matches("200").count();
    assert_eq!(peer.server.attempts("listPeople"), all as u64);
    // The fault strikes before the server checks the token.
    peer.server.fault_everywhere().status(503);
    peer.get_with(App::Crm, PEOPLE, "unused").await.expect(503);
}

#[tokio::test]
async fn a_fault_revokes_the_token_of_a_request() {
    let peer = Peer::start().await;
    let token = peer.token(App::Crm).await;
    let other = peer.token(App::Crm).await;
    peer.once(Operation::ListPeople).revoke_token();
    peer.get_with(App::Crm, PEOPLE, &token).await.expect(401);
    peer.get_with(App::Crm, PEOPLE, &token).await.expect(401);
    peer.get_with(App::Crm, PEOPLE, &other).await.expect(200);
}

#[tokio::test]
async fn a_fault_shortens_one_token_and_changes_its_expires_in() {
    let peer = Peer::of(ReferenceServer::builder().frozen_clock().start().await);
    peer.once(Operation::ExchangeToken)
        .token_lifetime(Duration::from_secs(2))
        .token_expires_in(3600);
    let audience = peer.server.audience(App::Crm);
    let form = format!("{}&audience={audience}", peer.grant());
    let short = peer.form(&form).await.expect(200);
    assert_eq!(short["expires_in"], 3600);
    let long = peer.token(App::Crm).await;
    peer.server.advance(Duration::from_secs(2));
    let short = short["access_token"].as_str().unwrap();
    peer.get_with(App::Crm, PEOPLE, short).await.expect(401);
    peer.get_with(App::Crm, PEOPLE, &long).await.expect(200);

    for lie in [json!(0), json!(-1), json!("soon")] {
        peer.once(Operation::ExchangeToken)
            .token_expires_in(lie.clone());
        assert_eq!(peer.form(&form).await.expect(200)["expires_in"], lie);
    }
    peer.once(Operation::ExchangeToken).omit_expires_in();
    let omitted = peer.form(&form).await.expect(200);
    assert_eq!(omitted.get("expires_in"), None);
    assert_eq!(peer.form(&form).await.expect(200)["expires_in"], 300);
}

/// Faults that wiremock, a server without stalls, rejects, and the message.
const REJECTED: &str = r#"
    {"then": {"stauts": 503}} | then.stauts: unknown field `stauts`
    {"then": {"status": "503"}} | then.status: invalid type: string "503", expected u16
    {"when": {"times": 1}} | missing field `then`
    {"then": {}} | then: must have an effect: got {}
    {"then": []} | then: must be an object: got an array
    {"operation": "x", "then": {"status": 503}} | operation: must be an operationId: got "x"
    {"operation": "getToday", "then": {"omitExpiresIn": true}} | operation: must be the token exchange for an effect on tokens: got "getToday"
    {"when": {"every": 0}, "then": {"status": 503}} | when.every: must be at least 1: got 0
    {"when": {"probability": 2}, "then": {"status": 503}} | when.probability: must be from 0 to 1: got 2.0
    {"when": {"client": ""}, "then": {"status": 503}} | when.client: must not be empty: got ""
    {"when": {"header": {"name": "a b"}}, "then": {"status": 503}} | when.header.name: must be a header name: got "a b"
    {"when": {"member": {"pointer": "a"}}, "then": {"status": 503}} | when.member.pointer: must begin with a slash: got "a"
    {"then": {"status": 99}} | then.status: must be from 200 to 599: got 99
    {"then": {"replyAfterCommitWith": 101}} | then.replyAfterCommitWith: must be from 200 to 599: got 101
    {"then": {"tokenLifetimeSeconds": 301}} | then.tokenLifetimeSeconds: must be from 0.001 to 300 seconds, the documented maximum: got 301
    {"then": {"delaySeconds": -1}} | then.delaySeconds: -1 is not a duration in seconds
    {"then": {"dripBody": {"bytes": 0, "pauseSeconds": 1}}} | then.dripBody.bytes: must be at least 1: got 0
    {"then": {"headers": {"Content-Length": "5"}}} | then.headers.Content-Length: must not frame the message, which the server does itself: got "5"
    {"then": {"retryAfter": "a\nb"}} | then.retryAfter: must be a header value: got "a\nb"
    {"then": {"retryAfter": "é"}} | then.retryAfter: must be ASCII: got "é"
    {"then": {"breakBody": true}} | then.breakBody: needs Transport::Hyper or a server in memory: got Wiremock
    {"then": {"refuseConnection": true}} | then.refuseConnection: needs a server in memory: got Wiremock
"#;

#[tokio::test]
async fn an_invalid_fault_is_rejected_with_field_rule_and_value() {
    let peer = Peer::start().await;
    for [fault, problem] in rows(REJECTED) {
        let faults = format!(r#"{{"faults": [{{"then": {{"status": 500}}}}, {fault}]}}"#);
        let error = peer.server.load_faults(&faults).unwrap_err().to_string();
        let problem = format!("line 1: fault 2: {problem}");
        assert!(error.starts_with(&problem), "{fault}: {error}");
    }
    // Methods have the same checks as fields.
    let fault = peer.server.fault(Operation::ListPeople);
    let error = catch_unwind(AssertUnwindSafe(|| fault.status(101))).unwrap_err();
    let error = error.downcast::<String>().unwrap();
    assert!(error.starts_with("then.status: must be from 200 to 599: got 101"));
    let memory = ReferenceServer::in_memory();
    let inside = r#"{"faults": [{"when": {"client": "x"}, "then": {"refuseConnection": true}}]}"#;
    let error = memory.load_faults(inside).unwrap_err().to_string();
    assert!(
        error.contains("then.refuseConnection: excludes when.client"),
        "{error}"
    );
    peer.crm("/people").await.expect(200);
}

/// Fault files, in which `~` means a line break, and the error.
const BROKEN: &str = r#"
    [] | must be an object with a `faults` field: got an array
    {} | missing field `faults` at line 1 column 2
    {~"faults": [],~"more": 1} | unknown field `more`, expected `faults` at line 3 column 6
    {"faults": [~  {"then": }~]} | expected value at line 2 column 12
    {"faults": [~{"then": {"status": 503}},~~{"then":~{"status": 99}},~{}]} | line 4: fault 2: then.status: must be from 200 to 599: got 99~line 6: fault 3: missing field `then`
"#;

#[test]
fn a_broken_fault_file_is_rejected_with_the_line() {
    let server = ReferenceServer::in_memory();
    for [file, problem] in rows(BROKEN) {
        let error = server.load_faults(&file.replace('~', "\n")).unwrap_err();
        assert_eq!(error.to_string(), problem.replace('~', "\n"), "{file}");
    }
}

/// Whatever header a fault sets, the server rejects it or sends it, and keeps running.
#[tokio::test]
async fn no_scripted_header_makes_the_server_panic() {
    let names = "connection content-length keep-alive te trailer transfer-encoding upgrade host date :status x-request-id é a\0b";
    let values = ["", "chunked", "close", "-1", "a\r\nb: c", "\u{1}", "é"];
    for transport in TRANSPORTS {
        let builder = ReferenceServer::builder().transport(transport);
        let peer = Peer::of(builder.start().await);
        let health = format!("{}/api/health", peer.server.crm_url());
        let mut sent = 0;
        for (name, value) in names
            .split(' ')
            .flat_map(|name| values.map(|value| (name, value)))
        {
            let faults = json!({"faults": [{"then": {"headers": {name: value}}}]});
            if peer.server.load_faults(&faults.to_string()).is_ok() {
                sent += 1;
                let got = peer.try_read(peer.http.get(&health)).await;
                assert!(got.is_some(), "{transport:?} {name}: {value}");
            }
            peer.server.clear_faults();
        }
        assert!((10..90).contains(&sent), "{sent}");
    }
}

/// One fault sets at most 10,000 headers, but several faults may exceed the limit of a response.
#[tokio::test]
async fn too_many_scripted_headers_do_not_stop_the_server() {
    let peer = Peer::on_hyper().await;
    let flood = |from: usize, count: usize| {
        let headers = (from..from + count).map(|number| (format!("x-{number}"), json!("")));
        json!({"then": {"headers": headers.collect::<serde_json::Map<_, _>>()}})
    };
    let load = |faults: Value| {
        peer.server
            .load_faults(&json!({"faults": faults}).to_string())
    };
    load(json!([flood(0, 10_001)])).unwrap_err();
    let floods = [0, 1, 2].map(|number| flood(number * 10_000, 10_000));
    load(json!(floods)).unwrap();
    let health = format!("{}/api/health", peer.server.crm_url());
    let _ = peer.try_read(peer.http.get(health)).await;
    let last = peer.server.requests().pop().unwrap();
    assert!(last.status.is_some(), "it was not answered");
}

/// A path or the title of a task, and the statuses of consecutive requests.
const STRUCK: &str = "
    {person} | 410
    {person}/timeline | 410
    /people | 200
    /tasks | 200
    Good | 201
    Better | 507 201
    Bad | 422
    Good | 200";

#[tokio::test]
async fn a_fault_strikes_only_matching_requests() {
    let faults = r#"{"faults": [
        {"operation": "listTasks", "when": {"client": "other"}, "then": {"status": 418}},
        {"operation": "exchangeToken", "when": {"client": "third"}, "then": {"status": 500}},
        {"when": {"member": {"pointer": "/extra", "value": null}}, "then": {"status": 508}},
        {"when": {"member": {"pointer": "/payload/title"}, "skip": 1, "times": 1}, "then": {"status": 507}}]}"#;
    let builder = ReferenceServer::builder().faults(faults);
    let mut peer = Peer::of(builder.in_memory());
    let fault = || peer.server.fault_everywhere();
    fault().when_path(peer.server.sample_person()).status(410);
    fault().when_header("x-tenant", "b").status(429);
    fault().when_member("/payload/title", "Bad").status(422);
    let task = |title: &str| json!({"commandType": "task.create", "payload": {"title": title}});

    for [what, statuses] in rows(&filled(&peer, &STRUCK.replace('{', "/people/{"))) {
        for status in statuses.split(' ') {
            let got = if what.starts_with('/') {
                peer.crm(what).await
            } else {
                peer.command(&task(what)).await
            };
            assert_eq!(got.status.to_string(), status, "{what}");
        }
    }
    for (tenant, status) in [("a", 200), ("b", 429)] {
        let health = peer.http.get(peer.server.crm_url() + "/api/health");
        let got = peer.read(health.header("x-tenant", tenant)).await;
        assert_eq!(got.status, status, "{tenant}");
    }
    let extra = json!({"commandType": "task.create", "extra": null});
    peer.command(&extra).await.expect(508);
    for (id, tasks) in [("other", 418), ("fourth", 200)] {
        peer.becomes(id, |client| client);
        assert_eq!(peer.crm("/tasks").await.status, tasks, "{id}");
    }
    for (id, status) in [("third", 500), ("fifth", 401)] {
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret=x");
        assert_eq!(peer.form(&form).await.status, status, "{id}");
    }
}
