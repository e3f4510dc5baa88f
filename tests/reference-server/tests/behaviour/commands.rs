//! CRM record commands and intake reviews.

use sdk_reference_server::{App, Operation};
use serde_json::{Value, json};

use crate::peer::{Got, Peer};

async fn command(peer: &Peer, body: Value) -> Got {
    peer.command(&body).await
}

async fn review(peer: &Peer, body: Value) -> Got {
    peer.post(App::Crm, "/api/crm/v1/intake-review-commands", &body)
        .await
}

#[tokio::test]
async fn a_created_person_is_seen_everywhere() {
    let peer = Peer::start().await;
    let body = json!({"commandType": "person.create", "payload": {"displayName": "Xanthe Quill", "email": "x@example.org"}});
    let result = command(&peer, body).await.expect(201);
    let reference = result["publicReference"].as_str().unwrap();
    assert_eq!(result["recordVersion"], 1);
    let person = peer.crm(&format!("/people/{reference}")).await.expect(200);
    assert_eq!(person["displayName"], "Xanthe Quill");
    for path in [
        "/people?q=xanthe",
        "/search?q=quill",
        "/people?q=x@example.org",
    ] {
        let items = peer.crm(path).await.expect(200)["items"].clone();
        assert_eq!(items[0]["publicReference"], reference, "{path}");
    }
    let change = &peer.crm("/today").await.expect(200)["recentChanges"][0].clone();
    assert_eq!(change["publicReference"], reference);
    assert_eq!(peer.server.commits(Operation::SubmitCommand), 1);
}

#[tokio::test]
async fn an_exact_replay_returns_the_stored_result_with_200() {
    let peer = Peer::start().await;
    let body = json!({"commandType": "task.create", "payload": {"title": "Once"}});
    let first = command(&peer, body.clone()).await.expect(201);
    let again = command(&peer, body).await.expect(200);
    assert_eq!(first, again);
    assert_eq!(peer.server.commits("submitCommand"), 1);
    assert_eq!(peer.server.attempts("submitCommand"), 2);
}

#[tokio::test]
async fn a_command_id_makes_another_body_a_conflict_for_the_same_actor_only() {
    let mut peer = Peer::start().await;
    let body = |title: &str| json!({"commandType": "task.create", "commandId": "c-1", "payload": {"title": title}});
    command(&peer, body("One")).await.expect(201);
    command(&peer, body("One")).await.expect(200);
    let got = command(&peer, body("Two")).await;
    assert_eq!((got.status, got.code()), (409, "idempotency_conflict"));
    peer.becomes("other", |client| client);
    command(&peer, body("Two")).await.expect(201);
}

#[tokio::test]
async fn an_opportunity_moves_and_the_funnel_follows() {
    let peer = Peer::start().await;
    let reference = peer.server.sample_opportunity();
    let before = peer
        .crm(&format!("/opportunities/{reference}"))
        .await
        .expect(200);
    let version = before["recordVersion"].as_u64().unwrap();
    let won = |funnel: &Value| funnel["outcomes"]["won"].as_u64().unwrap();
    let funnel = peer.crm("/funnel").await.expect(200);
    // All that happened to anyone: it is in its second stage at least.
    let always = "/funnel?from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z";
    let flow = |funnel: Value| {
        let rows = funnel["stages"].as_array().unwrap().clone();
        let sum = |name: &str| {
            rows.iter()
                .map(|row| row[name].as_u64().unwrap())
                .sum::<u64>()
        };
        (sum("enteredInWindow"), sum("exitedInWindow"))
    };
    let (entered, exited) = flow(peer.crm(always).await.expect(200));
    let body = |version: u64| {
        json!({
            "commandType": "opportunity.move",
            "subjectReference": reference,
            "expectedRecordVersion": version,
            "payload": {"stage": "won"},
        })
    };

    let stale = command(&peer, body(version + 1)).await;
    assert_eq!((stale.status, stale.code()), (409, "stale_record_version"));
    let result = command(&peer, body(version)).await.expect(201);

    assert_eq!(result["recordVersion"], version + 1);
    let after = peer
        .crm(&format!("/opportunities/{reference}"))
        .await
        .expect(200);
    assert_eq!(after["stage"], "won");
    // The window ends now; what happened a moment ago lies in it.
    peer.server.advance(std::time::Duration::from_secs(1));
    assert_eq!(
        won(&peer.crm("/funnel").await.expect(200)),
        won(&funnel) + 1
    );
    let flow = flow(peer.crm(always).await.expect(200));
    assert_eq!(flow, (entered + 1, exited + 1));
    let mut again = body(version + 1);
    again["payload"]["stage"] = json!("exploring");
    let closed = command(&peer, again).await;
    assert_eq!((closed.status, closed.code()), (409, "invalid_state"));
}

#[tokio::test]
async fn opportunities_tasks_organizations_and_people_change() {
    let peer = Peer::start().await;
    let server = &peer.server;
    let actor = server.sample_actor();
    let organization = command(
        &peer,
        json!({"commandType": "organization.create", "payload": {"displayName": "Acme"}}),
    )
    .await
    .expect(201)["publicReference"]
        .clone();
    let opportunity = command(
        &peer,
        json!({"commandType": "opportunity.create", "payload": {
            "title": "Big deal", "organizationReference": organization, "valueMinMinor": 100, "ownerReference": actor}}),
    )
    .await
    .expect(201)["publicReference"]
        .clone();
    for body in [
        json!({"commandType": "organization.update", "subjectReference": organization, "payload": {"city": "Oslo"}}),
        json!({"commandType": "opportunity.update", "subjectReference": opportunity, "payload": {"title": "Bigger deal"}}),
        json!({"commandType": "opportunity.assign", "subjectReference": opportunity, "payload": {"ownerReference": null}}),
        json!({"commandType": "person.update", "subjectReference": server.sample_person(), "payload": {"jobTitle": "Poet"}}),
        json!({"commandType": "task.update", "subjectReference": server.sample_task(), "payload": {"status": "waiting"}}),
        json!({"commandType": "task.assign", "subjectReference": server.sample_task(), "payload": {"ownerReference": actor}}),
        json!({"commandType": "task.complete", "subjectReference": server.sample_task()}),
        json!({"commandType": "activity.record", "subjectReference": server.sample_person(), "payload": {"summary": "Had tea"}}),
    ] {
        command(&peer, body).await.expect(201);
    }
    let row = peer
        .crm(&format!("/opportunities/{}", opportunity.as_str().unwrap()))
        .await
        .expect(200);
    assert_eq!(row["title"], "Bigger deal");
    assert!(row["owner"].is_null());
    assert_eq!(row["recordVersion"], 3);
    let done = peer.walk("/tasks?status=completed").await;
    assert!(
        done.iter()
            .any(|task| task["publicReference"] == server.sample_task().as_str())
            || done.len() > 1
    );
    let timeline = peer
        .walk(&format!(
            "/people/{}/timeline?limit=200",
            server.sample_person()
        ))
        .await;
    assert_eq!(timeline.len(), 251);
    assert_eq!(timeline[250]["summary"], "Had tea");
}

#[tokio::test]
async fn bad_commands_are_400_and_unknown_records_404() {
    let peer = Peer::start().await;
    for body in [
        json!([]),
        json!("command"),
        json!({}),
        json!({"commandType": "person.explode"}),
        json!({"commandType": 7}),
        json!({"commandType": "person.create"}),
        json!({"commandType": "person.create", "payload": {"displayName": ""}}),
        json!({"commandType": "person.create", "payload": {"displayName": "A B", "status": "odd"}}),
        json!({"commandType": "person.create", "payload": 3}),
        json!({"commandType": "task.complete"}),
        json!({"commandType": "task.complete", "subjectReference": "PER-0123456789AB"}),
        json!({"commandType": "task.complete", "subjectReference": peer.server.sample_task(), "expectedRecordVersion": 0}),
        json!({"commandType": "task.create", "payload": {"title": "T", "dueAt": "tomorrow"}}),
        json!({"commandType": "opportunity.move", "subjectReference": peer.server.sample_opportunity(), "payload": {}}),
        json!({"commandType": "opportunity.move", "subjectReference": peer.server.sample_opportunity(),
            "payload": {"stage": "deferred", "reasonCode": "x".repeat(101)}}),
    ] {
        let got = command(&peer, body.clone()).await;
        assert_eq!(got.status, 400, "{body}");
    }
    command(
        &peer,
        json!({"commandType": "task.complete", "subjectReference": "TSK-0123456789AB"}),
    )
    .await
    .expect(404);
    let nowhere = json!({"commandType": "person.create", "payload": {"displayName": "A B", "organizationReference": "ORG-0123456789AB"}});
    command(&peer, nowhere).await.expect(404);
    assert_eq!(peer.server.commits("submitCommand"), 0);
}

#[tokio::test]
async fn a_body_may_say_its_charset_and_must_not_be_too_long() {
    let peer = Peer::start().await;
    let token = peer.token(App::Crm).await;
    let url = format!("{}/api/crm/v1/commands", peer.server.crm_url());
    let request = peer.http.post(&url).bearer_auth(&token);
    let request = request.header("content-type", "application/json; charset=utf-8");
    let good = r#"{"commandType":"task.create","payload":{"title":"T"}}"#;
    peer.read(request.body(good)).await.expect(201);
    let large = json!({"commandType": "task.create", "payload": {"title": "x".repeat(1 << 20)}});
    command(&peer, large).await.expect(400);
}

#[tokio::test]
async fn a_review_decides_a_submission() {
    let peer = Peer::start().await;
    let reference = peer.server.sample_intake_submission();
    let body = |decision: &str, version: u64| json!({"submissionReference": reference, "decision": decision, "expectedRecordVersion": version, "note": "fine"});
    review(&peer, body("accept", 9)).await.expect(409);
    let first = review(&peer, body("request_review", 1)).await.expect(201);
    assert_eq!(
        review(&peer, body("request_review", 1)).await.expect(200),
        first
    );
    review(&peer, body("accept", 2)).await.expect(201);
    let got = review(&peer, body("dismiss", 3)).await;
    assert_eq!((got.status, got.code()), (409, "invalid_state"));

    let detail = peer
        .crm(&format!("/intake-submissions/{reference}"))
        .await
        .expect(200);
    assert_eq!(detail["status"], "accepted");
    assert_eq!(detail["recordVersion"], 3);
    assert_eq!(detail["review"]["decision"], "accept");
    assert_eq!(detail["reviewHistory"].as_array().unwrap().len(), 2);

    // It became an organization, a person in it and an opportunity.
    let linked = &detail["linkedRecords"];
    let (person, opportunity) = (&linked["person"], &linked["opportunity"]);
    assert_eq!(person["displayName"], detail["contact"]["displayName"]);
    let path = format!("/people/{}", person["publicReference"].as_str().unwrap());
    let person = peer.crm(&path).await.expect(200);
    assert_eq!(person["organization"], linked["organization"]);
    let path = format!(
        "/opportunities/{}",
        opportunity["publicReference"].as_str().unwrap()
    );
    let opportunity = peer.crm(&path).await.expect(200);
    assert_eq!(opportunity["personReference"], person["publicReference"]);
    let today = peer.crm("/today").await.expect(200);
    assert_eq!(
        today["recentChanges"][0]["publicReference"],
        reference.as_str()
    );

    for bad in [
        json!({}),
        json!({"submissionReference": reference}),
        json!({"submissionReference": reference, "decision": "maybe"}),
        json!({"submissionReference": "IN-1", "decision": "accept"}),
    ] {
        review(&peer, bad).await.expect(400);
    }
    review(
        &peer,
        json!({"submissionReference": "IN-0123456789AB", "decision": "accept"}),
    )
    .await
    .expect(404);
    assert_eq!(peer.server.commits("reviewIntakeSubmission"), 2);
}

#[tokio::test]
async fn a_history_keeps_the_last_hundred_reviews() {
    let peer = Peer::start().await;
    let reference = peer.server.sample_intake_submission();
    let token = peer.token(App::Crm).await;
    for number in 0..103 {
        let body = json!({"submissionReference": reference, "decision": "request_review", "note": format!("{number}")});
        let request = peer.posting(App::Crm, "/api/crm/v1/intake-review-commands", &body);
        peer.read(request.bearer_auth(&token)).await.expect(201);
    }
    let detail = peer
        .crm(&format!("/intake-submissions/{reference}"))
        .await
        .expect(200);
    let history = detail["reviewHistory"].as_array().unwrap();
    assert_eq!(history.len(), 100);
    assert_eq!(history[99]["note"], "102");
}
