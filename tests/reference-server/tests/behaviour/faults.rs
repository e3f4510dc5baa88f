//! Scripted faults.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use sdk_reference_server::{App, Fault, Operation, ReferenceServer, Transport};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::peer::{Peer, rows};

const PEOPLE: &str = "/api/crm/v1/people";

const TRANSPORTS: [Transport; 3] = [Transport::Wiremock, Transport::Hyper, Transport::InMemory];

/// Effects on a command, the transports that have them (the first letters), the outcome, a part of the response, and how
/// many commits were made.
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

/// The outcome of a request, and its response as text.
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
                // A response would be here by now.
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
            // The same command again: the server remembers whether it was applied.
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
async fn a_schedule_says_which_requests_a_fault_strikes() {
    let peer = Peer::of(ReferenceServer::in_memory());
    for [when, expected] in rows(SCHEDULES) {
        let faults = format!(
            r#"{{"faults": [{{"operation": "listPeople", "when": {when}, "then": {{"status": 503}}}}]}}"#
        );
        let fault = peer.server.load_faults(&faults).unwrap().remove(0);
        let (attempts, logged) = (
            peer.server.attempts("listPeople"),
            peer.server.fault_log().len(),
        );
        let statuses: Vec<&str> = expected.split(' ').collect();
        for status in &statuses {
            assert_eq!(
                peer.crm("/people").await.status.to_string(),
                *status,
                "{when}"
            );
        }
        let struck = statuses.iter().filter(|status| **status == "503").count();
        assert_eq!(fault.struck(), struck as u64);
        assert_eq!(peer.server.fault_log().len(), logged + struck);
        assert_eq!(
            peer.server.attempts("listPeople"),
            attempts + statuses.len() as u64
        );
        fault.remove();
    }
    // A fault comes before the check of the token.
    peer.server.fault_everywhere().status(503);
    peer.get_with(App::Crm, PEOPLE, "unused").await.expect(503);
}

#[tokio::test]
async fn a_token_is_revoked_under_the_request() {
    let peer = Peer::start().await;
    let token = peer.token(App::Crm).await;
    let other = peer.token(App::Crm).await;
    peer.once(Operation::ListPeople).revoke_token();
    peer.get_with(App::Crm, PEOPLE, &token).await.expect(401);
    peer.get_with(App::Crm, PEOPLE, &token).await.expect(401);
    peer.get_with(App::Crm, PEOPLE, &other).await.expect(200);
}

#[tokio::test]
async fn replies_hold_what_no_contract_knows() {
    let peer = Peer::start().await;
    peer.once(Operation::ListOpportunities)
        .unknown_enum()
        .unknown_member()
        .schema_suffix("v9");
    let body = peer.crm("/opportunities").await.expect(200);
    assert_eq!(body["schemaVersion"], "suite-crm-opportunities-page.v9");
    assert_eq!(body["items"][0]["stage"], "from_the_future");
    assert!(body["items"][0]["memberFromTheFuture"].is_object());
    let body = peer.crm("/opportunities").await.expect(200);
    assert_eq!(body["schemaVersion"], "suite-crm-opportunities-page.v2");
}

#[tokio::test]
async fn cursors_go_round() {
    let peer = Peer::start().await;
    peer.server.fault(Operation::ListPeople).cursor_loop_of(2);
    let mut cursors: Vec<String> = Vec::new();
    let mut path = "/people?limit=2".to_owned();
    for _ in 0..5 {
        let body = peer.crm(&path).await.expect(200);
        let cursor = body["nextCursor"].as_str().unwrap().to_owned();
        path = format!("/people?limit=2&cursor={cursor}");
        cursors.push(cursor);
    }
    assert_ne!(cursors[0], cursors[1]);
    assert_eq!(
        cursors[2..],
        [cursors[0].clone(), cursors[1].clone(), cursors[0].clone()]
    );
}

#[tokio::test]
async fn exchanges_fail_too() {
    let peer = Peer::start().await;
    peer.once(Operation::ExchangeToken).status(500);
    let form = peer.grant();
    peer.form(&form).await.expect(500);
    assert_eq!(
        (
            peer.server.exchanges(),
            peer.server.attempts("exchangeToken")
        ),
        (0, 1)
    );
    peer.form(&form).await.expect(200);
    assert_eq!(
        (
            peer.server.exchanges(),
            peer.server.attempts("exchangeToken")
        ),
        (1, 2)
    );
}

#[tokio::test]
async fn one_token_is_short_lived_and_lies_about_it() {
    let peer = Peer::of(ReferenceServer::builder().frozen_clock().start().await);
    peer.once(Operation::ExchangeToken)
        .token_lifetime(Duration::from_secs(2))
        .token_expires_in(3600);
    let form = format!(
        "{}&audience={}",
        peer.grant(),
        peer.server.audience(App::Crm)
    );
    let short = peer.form(&form).await.expect(200);
    assert_eq!(short["expires_in"], 3600);
    let long = peer.token(App::Crm).await;
    peer.server.advance(Duration::from_secs(2));
    let short = short["access_token"].as_str().unwrap();
    peer.get_with(App::Crm, PEOPLE, short).await.expect(401);
    peer.get_with(App::Crm, PEOPLE, &long).await.expect(200);

    peer.once(Operation::ExchangeToken).omit_expires_in();
    assert!(
        peer.form(&form)
            .await
            .expect(200)
            .get("expires_in")
            .is_none()
    );
    assert_eq!(peer.form(&form).await.expect(200)["expires_in"], 300);
}

#[tokio::test]
async fn what_a_transport_cannot_do_is_refused() {
    type Effect = fn(Fault) -> Fault;
    let on_wiremock = Peer::start().await;
    let on_hyper = Peer::on_hyper().await;
    let in_memory = Peer::of(ReferenceServer::in_memory());
    let refused: [(&Peer, Effect, &str); 5] = [
        (
            &in_memory,
            |fault| fault.when_client("x").refuse_connection(),
            "no client",
        ),
        (
            &on_wiremock,
            |fault| fault.drip_body(1, Duration::ZERO),
            "Transport::Hyper",
        ),
        (&on_wiremock, Fault::break_body, "Transport::Hyper"),
        (&on_wiremock, Fault::stall, "Transport::Hyper"),
        (&on_hyper, Fault::refuse_connection, "in memory"),
    ];
    for (peer, effect, named) in refused {
        let fault = peer.server.fault(Operation::ListPeople);
        let problem = catch_unwind(AssertUnwindSafe(|| effect(fault))).unwrap_err();
        let problem = problem.downcast::<String>().unwrap();
        assert!(problem.contains(named), "{problem}");
        peer.crm("/people").await.expect(200);
    }
}

#[tokio::test]
async fn what_no_reply_can_carry_is_refused_where_it_is_said() {
    let peer = Peer::start().await;
    let refused: [fn(Fault) -> Fault; 5] = [
        |fault| fault.header("Content-Length", "5"),
        |fault| fault.header("x-a", "a\nb"),
        |fault| fault.retry_after("é"),
        |fault| fault.body("", "a\nb"),
        |fault| fault.status(101),
    ];
    let named = "headers.Content-Length headers.x-a retryAfter body.mediaType status";
    for (effect, named) in refused.into_iter().zip(named.split(' ')) {
        let fault = peer.server.fault(Operation::ListPeople);
        let problem = catch_unwind(AssertUnwindSafe(|| effect(fault))).unwrap_err();
        let problem = problem.downcast::<String>().unwrap();
        assert!(problem.starts_with(named), "{problem}");
    }
    peer.crm("/people").await.expect(200);
}

/// However odd a scripted header is, the server rejects it or sends it, and lives on.
#[tokio::test]
async fn no_scripted_header_makes_the_server_panic() {
    let names = "connection content-length keep-alive te trailer transfer-encoding upgrade host date expect :status \
                 http2-settings :path x-request-id set-cookie sec-websocket-accept content-type é a\0b";
    let values = "|chunked|close|0|-1|18446744073709551616|a\r\nb: c|\u{1}|é";
    let huge = "x".repeat(1 << 20);
    let names = names.split_whitespace();
    let mut headers: Vec<(&str, &str)> = names
        .flat_map(|name| values.split('|').map(move |value| (name, value)))
        .collect();
    headers.push(("x-huge", &huge));
    let flood = |from: usize, count: usize| {
        let headers = (from..from + count).map(|number| (format!("x-{number}"), json!("")));
        json!({"then": {"headers": headers.collect::<serde_json::Map<_, _>>()}})
    };
    for transport in TRANSPORTS {
        let builder = ReferenceServer::builder().transport(transport);
        let peer = Peer::of(builder.start().await);
        let load = |faults: Value| {
            let faults = json!({"faults": faults}).to_string();
            peer.server.load_faults(&faults).is_ok()
        };
        let health = format!("{}/api/health", peer.server.crm_url());
        let mut sent = 0;
        for (name, value) in &headers {
            if load(json!([{"then": {"headers": {*name: value}}}])) {
                sent += 1;
                let got = peer.try_read(peer.http.get(&health)).await;
                // No client takes a megabyte of headers over a socket.
                let held = got.is_some() || value.len() > 1_000;
                assert!(held, "{transport:?} {name}: {value:.20}");
            }
            peer.server.clear_faults();
        }
        assert!((30..150).contains(&sent), "{sent}");

        assert!(!load(json!([flood(0, 10_001)])));
        assert!(load(json!([
            flood(0, 10_000),
            flood(10_000, 10_000),
            flood(20_000, 10_000)
        ])));
        let flooded = peer.http.get(&health).header("x-flood", "yes");
        let _ = peer.try_read(flooded).await;
        let last = peer.server.requests().pop().unwrap();
        assert_eq!(last.header("x-flood"), Some("yes"), "it was not answered");
    }
}

#[tokio::test]
async fn a_fault_strikes_the_requests_that_it_is_for() {
    let faults = r#"{"faults": [
        {"operation": "listTasks", "when": {"client": "other"}, "then": {"status": 418}},
        {"operation": "exchangeToken", "when": {"client": "third"}, "then": {"status": 500}},
        {"when": {"member": {"pointer": "/payload/title"}, "skip": 1, "times": 1}, "then": {"status": 507}}]}"#;
    for transport in TRANSPORTS {
        let builder = ReferenceServer::builder()
            .transport(transport)
            .faults(faults);
        let mut peer = Peer::of(builder.start().await);
        let fault = || peer.server.fault_everywhere();
        let person = format!("/people/{}", peer.server.sample_person());
        fault().when_path(&person[8..]).status(410);
        fault().when_header("x-tenant", "b").status(429);
        fault().when_member("/payload/title", "Bad").status(422);

        for (path, status) in [
            (&*person, 410),
            (&format!("{person}/timeline"), 410),
            ("/people", 200),
            ("/tasks", 200),
        ] {
            assert_eq!(peer.crm(path).await.status, status, "{path}");
        }
        for (tenant, status) in [("a", 200), ("b", 429)] {
            let health = peer
                .http
                .get(format!("{}/api/health", peer.server.crm_url()));
            let got = peer.read(health.header("x-tenant", tenant)).await;
            assert_eq!(got.status, status, "{tenant}");
        }
        for (title, status) in [
            ("Good", 201),
            ("Better", 507),
            ("Better", 201),
            ("Bad", 422),
            ("Good", 200),
        ] {
            let task = json!({"commandType": "task.create", "payload": {"title": title}});
            assert_eq!(
                peer.command(&task).await.status,
                status,
                "{transport:?} {title}"
            );
        }
        for (id, tasks) in [("other", 418), ("fourth", 200)] {
            peer.becomes(id, |client| client);
            assert_eq!(peer.crm("/tasks").await.status, tasks, "{id}");
        }
        for (id, status) in [("third", 500), ("fifth", 401)] {
            let form = format!("grant_type=client_credentials&client_id={id}&client_secret=x");
            assert_eq!(peer.form(&form).await.status, status, "{id}");
        }
    }
}
