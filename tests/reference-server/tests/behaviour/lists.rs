//! Pages, filters, bounds and cursors.

use std::collections::HashSet;

use sdk_reference_server::ReferenceServer;

use crate::peer::Peer;

#[tokio::test]
async fn each_list_is_walked_to_its_end_without_loss() {
    let peer = Peer::start().await;
    let person = peer.server.sample_person();
    for (path, count) in [
        ("/people?limit=50".to_owned(), 300),
        ("/organizations?limit=7".to_owned(), 120),
        ("/opportunities".to_owned(), 400),
        ("/tasks?owner=all&limit=50".to_owned(), 500),
        ("/intake-submissions".to_owned(), 80),
        (format!("/people/{person}/timeline"), 250),
    ] {
        let items = peer.walk(&path).await;
        assert_eq!(items.len(), count, "{path}");
        let distinct: HashSet<String> = items.iter().map(ToString::to_string).collect();
        assert!(distinct.len() > count / 2, "{path}");
    }
}

#[tokio::test]
async fn the_timeline_is_chronological() {
    let peer = Peer::start().await;
    let items = peer
        .walk(&format!(
            "/people/{}/timeline?limit=200",
            peer.server.sample_person()
        ))
        .await;
    let times: Vec<&str> = items
        .iter()
        .map(|item| item["occurredAt"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted());
}

#[tokio::test]
async fn defaults_and_bounds_of_limit_hold() {
    let peer = Peer::start().await;
    let person = peer.server.sample_person();
    let timeline = format!("/people/{person}/timeline");
    for (path, default, most) in [
        ("/people", 25, 50),
        ("/organizations", 25, 50),
        ("/opportunities", 25, 50),
        ("/tasks?owner=all", 25, 50),
        ("/intake-submissions", 25, 50),
        ("/search?q=an", 20, 50),
        (timeline.as_str(), 50, 200),
    ] {
        let joint = if path.contains('?') { '&' } else { '?' };
        let count = |body: &serde_json::Value| body["items"].as_array().unwrap().len();
        assert_eq!(count(&peer.crm(path).await.expect(200)), default, "{path}");
        let full = peer
            .crm(&format!("{path}{joint}limit={most}"))
            .await
            .expect(200);
        assert_eq!(count(&full), most, "{path}");
    }
}

#[tokio::test]
async fn filters_select_and_refuse_unknown_values() {
    let peer = Peer::start().await;
    for (path, values) in [
        ("/people?status", "active inactive suppressed archived"),
        ("/organizations?status", "active inactive archived"),
        (
            "/tasks?owner=all&status",
            "open in_progress waiting completed cancelled",
        ),
        (
            "/intake-submissions?status",
            "received screening review_needed accepted dismissed failed",
        ),
        (
            "/opportunities?stage",
            "new review_needed exploring qualified solution_shaping proposal_or_decision won deferred closed_not_proceeding",
        ),
    ] {
        let member = path.rsplit(['?', '&']).next().unwrap();
        for value in values.split(' ') {
            let items = peer.walk(&format!("{path}={value}&limit=50")).await;
            assert!(!items.is_empty(), "{path}={value}");
            assert!(
                items.iter().all(|item| item[member] == value),
                "{path}={value}"
            );
        }
        peer.refuses(&format!("{path}=unheard_of")).await;
    }
}

#[tokio::test]
async fn the_intake_state_excludes_the_status() {
    let peer = Peer::start().await;
    let pending = peer.walk("/intake-submissions?state=pending").await.len();
    let done = peer.walk("/intake-submissions?state=final").await.len();
    let all = peer.walk("/intake-submissions?state=all").await.len();
    assert!(pending > 0 && done > 0);
    assert_eq!(pending + done, all);
    peer.refuses("/intake-submissions?state=open").await;
    peer.refuses("/intake-submissions?state=all&status=failed")
        .await;
    peer.refuses("/intake-submissions?cursor=short").await;
    peer.refuses(&format!("/intake-submissions?cursor={}", "a".repeat(501)))
        .await;
}

#[tokio::test]
async fn the_owner_filters_know_nobody_somebody_and_me() {
    let peer = Peer::start().await;
    let me = peer.server.sample_actor();
    let unowned = peer.walk("/opportunities?owner=none").await;
    assert!(!unowned.is_empty() && unowned.iter().all(|item| item["owner"].is_null()));
    let mine = peer.walk(&format!("/opportunities?owner={me}")).await;
    assert!(
        !mine.is_empty()
            && mine
                .iter()
                .all(|item| item["owner"]["publicReference"] == me.as_str())
    );
    for bad in ["", "mine", "ACR-123", "PER-0123456789AB"] {
        peer.refuses(&format!("/opportunities?owner={bad}")).await;
    }
    let tasks = peer.walk("/tasks").await;
    assert!(
        tasks.len() > 25
            && tasks
                .iter()
                .all(|item| item["owner"]["publicReference"] == me.as_str())
    );
    assert_eq!(peer.walk("/tasks?owner=mine").await.len(), tasks.len());
    peer.refuses(&format!("/tasks?owner={me}")).await;
}

#[tokio::test]
async fn a_cursor_belongs_to_its_query() {
    let peer = Peer::start().await;
    let page = peer.crm("/people?status=active").await.expect(200);
    let cursor = page["nextCursor"].as_str().unwrap();
    assert!((20..=500).contains(&cursor.len()));
    // The page size may change on the way.
    peer.crm(&format!("/people?status=active&limit=3&cursor={cursor}"))
        .await
        .expect(200);
    for path in [
        format!("/people?cursor={cursor}"),
        format!("/people?status=inactive&cursor={cursor}"),
        format!("/people?status=active&q=an&cursor={cursor}"),
        format!("/organizations?status=active&cursor={cursor}"),
        format!("/people?status=active&cursor={cursor}A"),
        "/people?status=active&cursor=".to_owned(),
        "/people?status=active&cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
    ] {
        peer.refuses(&path).await;
    }
}

#[tokio::test]
async fn a_record_that_leaves_the_filter_does_not_disturb_the_walk() {
    let peer = Peer::start().await;
    let before = peer.walk("/people").await;
    let command = serde_json::json!({"commandType": "person.create", "payload": {"displayName": "New Comer"}});
    peer.command(&command).await.expect(201);
    let after = peer.walk("/people").await;
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after.last().unwrap()["displayName"], "New Comer");
}

#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let peer = Peer::start().await;
    peer.crm("/people?colour=red").await.expect(200);
}

#[tokio::test]
async fn a_million_people_are_listed_at_once() {
    let peer = Peer::of(ReferenceServer::builder().people(1_000_000).start().await);
    let page = peer.crm("/people?limit=50").await.expect(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 50);
}
