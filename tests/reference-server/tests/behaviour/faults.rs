//! Scripted faults.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use sdk_reference_server::{App, Fault, Operation, ReferenceServer, Transport};
use serde_json::json;

use crate::peer::Peer;

const PEOPLE: &str = "/api/crm/v1/people";

#[tokio::test]
async fn a_status_strikes_so_often_and_says_when_to_return() {
    let peer = Peer::start().await;
    let fault = peer
        .server
        .fault(Operation::ListPeople)
        .skip(1)
        .times(2)
        .status(503)
        .retry_after("7");
    let statuses = async |count: usize| {
        let mut seen = Vec::new();
        for _ in 0..count {
            seen.push(peer.crm("/people").await.status);
        }
        seen
    };
    assert_eq!(statuses(4).await, [200, 503, 503, 200]);
    assert_eq!(fault.struck(), 2);
    assert_eq!(peer.server.fault_log().len(), 2);
    assert_eq!(peer.server.attempts("listPeople"), 4);

    fault.remove();
    peer.server.fault("listPeople").every(2).status(429);
    assert_eq!(statuses(4).await, [429, 200, 429, 200]);
    peer.server.clear_faults();
    peer.server
        .fault_everywhere()
        .probability(1.0, 1)
        .status(503)
        .retry_after("7");
    let token = "unused";
    let got = peer.get_with(App::Crm, PEOPLE, token).await;
    assert_eq!((got.status, got.header("retry-after")), (503, Some("7")));
}

#[tokio::test]
async fn a_lost_reply_is_a_commit_without_an_answer() {
    for transport in [Transport::Wiremock, Transport::Hyper, Transport::InMemory] {
        let builder = ReferenceServer::builder().transport(transport);
        let peer = Peer::of(builder.start().await);
        let token = peer.token(App::Crm).await;
        let send = async |title: &str| {
            let body = json!({"commandType": "task.create", "payload": {"title": title}});
            let request = peer.posting(App::Crm, "/api/crm/v1/commands", &body);
            let got = peer.try_read(request.bearer_auth(&token)).await;
            (
                got.map(|got| got.status),
                peer.server.commits("submitCommand"),
            )
        };

        peer.once(Operation::SubmitCommand).lose_reply();
        assert_eq!(send("Lost").await, (None, 1));
        assert_eq!(send("Lost").await, (Some(200), 1));

        peer.once(Operation::SubmitCommand).close_connection();
        assert_eq!(send("Closed").await, (None, 1));

        let fault = peer.once(Operation::SubmitCommand);
        fault.reply_after_commit_with(503);
        assert_eq!(send("Late").await, (Some(503), 2));
        let last = peer.server.requests_for("submitCommand");
        let statuses: Vec<Option<u16>> = last.iter().map(|request| request.status).collect();
        assert_eq!(statuses, [None, Some(200), None, Some(503)]);
    }
}

#[tokio::test]
async fn a_delay_holds_one_reply_back_and_no_other() {
    let peer = Peer::start().await;
    let token = peer.token(App::Crm).await;
    let delay = Duration::from_millis(500);
    peer.once(Operation::ListPeople).delay(delay);
    let order = std::sync::Mutex::new(Vec::new());
    let started = Instant::now();
    let slow = async {
        peer.get_with(App::Crm, PEOPLE, &token).await.expect(200);
        order.lock().unwrap().push("slow");
    };
    let quick = async {
        // The fault strikes whoever comes first: let the slow one.
        while peer.server.attempts("listPeople") == 0 {
            tokio::task::yield_now().await;
        }
        peer.get_with(App::Crm, PEOPLE, &token).await.expect(200);
        order.lock().unwrap().push("quick");
    };
    tokio::join!(slow, quick);
    assert_eq!(order.into_inner().unwrap(), ["quick", "slow"]);
    assert!(started.elapsed() >= delay);
}

#[tokio::test]
async fn bodies_are_cut_replaced_and_broken() {
    let peer = Peer::on_hyper().await;
    peer.once(Operation::ListPeople).truncate_body();
    let got = peer.crm("/people").await;
    assert_eq!(got.status, 200);
    assert!(serde_json::from_str::<serde_json::Value>(&got.text).is_err() && !got.text.is_empty());

    peer.once(Operation::ListPeople).body("<html>", "text/html");
    let got = peer.crm("/people").await;
    assert_eq!(
        (got.text.as_str(), got.header("content-type")),
        ("<html>", Some("text/html"))
    );

    peer.once(Operation::ListPeople)
        .status(302)
        .header("location", "http://elsewhere.invalid/");
    let got = peer.crm("/people").await;
    assert_eq!(
        (got.status, got.header("location")),
        (302, Some("http://elsewhere.invalid/"))
    );

    peer.once(Operation::ListPeople).break_body();
    let token = peer.token(App::Crm).await;
    let url = format!("{}{PEOPLE}", peer.server.crm_url());
    let reply = peer.http.get(url).bearer_auth(token).send().await.unwrap();
    assert_eq!(reply.status(), 200);
    assert!(reply.text().await.is_err());
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
async fn a_body_drips() {
    let peer = Peer::on_hyper().await;
    let whole = peer.crm("/presentation").await.text;
    let pause = Duration::from_millis(20);
    let pieces = 5;
    peer.once(Operation::GetPresentation)
        .drip_body(whole.len().div_ceil(pieces), pause);
    let token = peer.token(App::Crm).await;
    let url = format!("{}/api/crm/v1/presentation", peer.server.crm_url());
    let started = Instant::now();
    let mut reply = peer.http.get(url).bearer_auth(token).send().await.unwrap();
    let mut text = Vec::new();
    let mut chunks = 0;
    while let Some(chunk) = reply.chunk().await.unwrap() {
        text.extend_from_slice(&chunk);
        chunks += 1;
    }
    assert_eq!(String::from_utf8(text).unwrap(), whole);
    assert!(chunks > 1 && started.elapsed() >= pause * 4);
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
async fn a_stalled_reply_on_a_socket_never_comes() {
    let peer = Peer::on_hyper().await;
    let token = peer.token(App::Crm).await;
    let stall = r#"{"faults": [{"operation": "submitCommand", "then": {"stall": true}}]}"#;
    peer.server.load_faults(stall).unwrap();
    let body = json!({"commandType": "task.create", "payload": {"title": "Stalled"}});
    let sending = peer.posting(App::Crm, "/api/crm/v1/commands", &body);
    let sending = tokio::spawn(sending.bearer_auth(&token).send());
    while peer.server.requests_for("submitCommand").is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(peer.server.commits("submitCommand"), 1);
    assert_eq!(peer.server.requests_for("submitCommand")[0].status, None);
    // A reply would be here by now.
    let waited = tokio::time::timeout(Duration::from_millis(200), sending).await;
    assert!(waited.is_err());
}

#[tokio::test]
async fn what_a_transport_cannot_do_is_refused() {
    type Effect = fn(Fault) -> Fault;
    let on_wiremock = Peer::start().await;
    let on_hyper = Peer::on_hyper().await;
    let refused: [(&Peer, Effect, &str); 4] = [
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

/// However odd a scripted header is, the server refuses it or sends it, and lives on.
#[tokio::test]
async fn no_scripted_header_makes_the_server_panic() {
    let names = "connection content-length keep-alive te trailer transfer-encoding upgrade host date expect :status \
                 http2-settings :path x-request-id set-cookie sec-websocket-accept content-type é a\0b";
    let huge = "x".repeat(1 << 20);
    let values = format!("|chunked|close|0|-1|18446744073709551616|a\r\nb: c|\u{1}|é|{huge}");
    let flood = |from: usize| {
        let headers = (from..from + 10_000).map(|number| (format!("x-{number}"), json!("")));
        json!({"then": {"headers": headers.collect::<serde_json::Map<_, _>>()}})
    };
    for transport in [Transport::Wiremock, Transport::Hyper, Transport::InMemory] {
        let builder = ReferenceServer::builder().transport(transport);
        let peer = Peer::of(builder.start().await);
        let load = |faults: serde_json::Value| {
            let faults = json!({"faults": faults}).to_string();
            peer.server.load_faults(&faults).is_ok()
        };
        let health = format!("{}/api/health", peer.server.crm_url());
        let mut sent = 0;
        let all = names.split_whitespace();
        for (name, value) in all.flat_map(|name| values.split('|').map(move |value| (name, value)))
        {
            if load(json!([{"then": {"headers": {name: value}}}])) {
                sent += 1;
                let got = peer.try_read(peer.http.get(&health)).await;
                // No client takes a megabyte of them over a socket.
                let held = got.is_some() || value.len() > 1_000;
                assert!(held, "{transport:?} {name}: {value:.20}");
            }
            peer.server.clear_faults();
        }
        assert!((30..150).contains(&sent), "{sent}");

        let mut more = flood(0);
        more["then"]["headers"]["one"] = json!("more");
        assert!(!load(json!([more])));
        assert!(load(json!([flood(0), flood(10_000), flood(20_000)])));
        let _ = peer
            .try_read(peer.http.get(&health).header("x-flood", "yes"))
            .await;
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
    for transport in [Transport::Wiremock, Transport::Hyper, Transport::InMemory] {
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
