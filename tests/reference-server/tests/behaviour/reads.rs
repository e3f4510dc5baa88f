//! Single records, and the reads whose bodies the contract shows.

use reqwest::Method;
use sdk_reference_server::App;
use serde_json::Value;

use crate::peer::Peer;

#[tokio::test]
async fn records_are_found_by_reference_and_by_nothing_else() {
    let peer = Peer::start().await;
    let server = &peer.server;
    for (path, sample) in [
        ("/people", server.sample_person()),
        ("/organizations", server.sample_organization()),
        ("/opportunities", server.sample_opportunity()),
        ("/intake-submissions", server.sample_intake_submission()),
    ] {
        let body = peer.crm(&format!("{path}/{sample}")).await.expect(200);
        assert_eq!(body["publicReference"], sample.as_str());
        assert!(body["recordVersion"].as_u64().unwrap() >= 1);
        let prefix = sample.split('-').next().unwrap();
        peer.crm(&format!("{path}/{prefix}-000000000000"))
            .await
            .expect(404);
        for bad in [
            format!("{prefix}-00000000000"),
            format!("{prefix}-00000000000g"),
            sample.to_lowercase(),
            "XX-000000000000".to_owned(),
            format!("{sample}%20"),
            "%C3%A9".to_owned(),
        ] {
            peer.refuses(&format!("{path}/{bad}")).await;
        }
    }
    peer.crm("/people/PER-000000000000/timeline")
        .await
        .expect(404);
    peer.refuses("/people/PER-0/timeline").await;
}

#[tokio::test]
async fn the_attention_queue_is_as_documented() {
    let peer = Peer::start().await;
    let body = peer.crm("/today").await.expect(200);
    assert_eq!(body["schemaVersion"], "suite-crm-today.v1");
    assert!(body["workspace"].is_string() && body["counts"].is_object());
    let first = &body["attention"][0];
    assert_eq!(first["type"], "task");
    assert_eq!(first["priority"]["reasonCodes"][0], "overdue");
    assert!(first["priority"]["score"].is_number() && first["owner"]["displayName"].is_string());
    let changes = body["recentChanges"].as_array().unwrap();
    assert_eq!(changes.len(), 25);
    assert!(changes[0]["actor"]["displayName"].is_string());
}

#[tokio::test]
async fn an_intake_submission_is_as_documented() {
    let peer = Peer::start().await;
    let body = peer
        .crm(&format!(
            "/intake-submissions/{}",
            peer.server.sample_intake_submission()
        ))
        .await
        .expect(200);
    assert_eq!(body["schemaVersion"], "suite-crm-intake-detail.v2");
    assert_eq!(body["status"], "review_needed");
    assert!(body["contact"].is_object() && body["linkedRecords"].is_object());
    assert!(body["review"].is_null() && body["reviewHistory"].is_array());
    assert!(
        body["processingEvents"]
            .as_array()
            .unwrap()
            .iter()
            .all(Value::is_object)
    );
}

#[tokio::test]
async fn the_funnel_has_a_window_of_thirty_days_up_to_now() {
    let peer = Peer::of(
        sdk_reference_server::ReferenceServer::builder()
            .frozen_clock()
            .start()
            .await,
    );
    let body = peer.crm("/funnel").await.expect(200);
    assert_eq!(body["schemaVersion"], "suite-crm-funnel.v1");
    assert_eq!(body["window"]["to"], "2026-01-15T09:00:00Z");
    assert_eq!(body["window"]["from"], "2025-12-16T09:00:00Z");
    assert_eq!(body["stages"].as_array().unwrap().len(), 9);
    let earlier = peer
        .crm("/funnel?to=2026-01-01T00:00:00Z")
        .await
        .expect(200);
    assert_eq!(earlier["window"]["from"], "2025-12-02T00:00:00Z");
    let offset = peer
        .crm("/funnel?from=2025-12-01T00:00:00%2B02:00&to=2025-12-31T00:00:00Z")
        .await
        .expect(200);
    assert_eq!(offset["window"]["from"], "2025-11-30T22:00:00Z");
    for bad in [
        "from=2026-02-01T00:00:00Z",
        "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
        "from=yesterday",
        "to=2026-01-01",
        "to=",
        "to=0000-01-01T00:00:00Z",
        "to=-009999-01-02T01:59:59Z",
        "to=0001-01-01T00:00:00Z&to=0001-01-01T00:00:00Z",
    ] {
        peer.refuses(&format!("/funnel?{bad}")).await;
    }
}

#[tokio::test]
async fn the_search_is_bounded_and_has_no_cursor() {
    let peer = Peer::start().await;
    let body = peer.crm("/search?q=An").await.expect(200);
    let kinds: std::collections::HashSet<&str> = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert!(kinds.len() >= 3, "{kinds:?}");
    assert!(body.get("nextCursor").is_none());
    assert!(
        peer.crm("/search?q=zzzzzz").await.expect(200)["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn the_presentation_shows_what_the_caller_reaches() {
    let mut peer = Peer::start().await;
    let full = peer.crm("/presentation").await.expect(200);
    assert_eq!(full["schemaVersion"], "suite-crm-presentation.v1");
    assert_eq!(full["appId"], "crm");
    let count = |body: &Value, member: &str| body[member].as_array().unwrap().len();
    assert_eq!(full["navigation"]["sections"].as_array().unwrap().len(), 6);
    assert!(
        (1..=60).contains(&count(&full, "views")) && (1..=60).contains(&count(&full, "actions"))
    );

    peer.becomes("narrow", |client| {
        client.scopes(["crm:today:read", "crm:people:read", "crm:tasks:write"])
    });
    let narrow = peer.crm("/presentation").await.expect(200);
    let sections: Vec<&str> = narrow["navigation"]["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["id"].as_str().unwrap())
        .collect();
    assert_eq!(sections, ["today", "people"]);
    let actions = narrow["actions"].as_array().unwrap();
    assert!(!actions.is_empty());
    assert!(
        actions
            .iter()
            .all(|action| action["requiredScope"] == "crm:tasks:write")
    );
}

#[tokio::test]
async fn actors_have_a_workload() {
    let peer = Peer::start().await;
    let body = peer.crm("/actors").await.expect(200);
    let actors = body["items"].as_array().unwrap();
    assert_eq!(
        actors[0]["publicReference"],
        peer.server.sample_actor().as_str()
    );
    assert!(actors[0]["workload"]["openTasks"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn other_paths_and_methods_are_refused_plainly() {
    let peer = Peer::start().await;
    for app in App::all() {
        let got = peer.get(app, "/nowhere").await;
        assert_eq!(got.status, 404);
        assert!(got.header("x-request-id").is_some());
    }
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::POST] {
        let got = peer.send(method, App::Crm, "/api/crm/v1/people").await;
        assert_eq!((got.status, got.header("allow")), (405, Some("GET, HEAD")));
    }
    peer.get(App::Crm, "/api/crm/v1/people/").await.expect(404);
    peer.get(App::Crm, "//api/crm/v1/people").await.expect(404);
}
