//! 401 and 403: what tokens open. What they do not is tried with every operation in `property`.

use sdk_reference_server::{App, ReferenceServer};
use serde_json::json;

use crate::peer::Peer;

#[tokio::test]
async fn revoked_tokens_are_refused_and_new_ones_are_not() {
    let peer = Peer::start().await;
    let token = peer.token(App::Crm).await;
    peer.server.revoke_tokens();
    peer.get_with(App::Crm, "/api/crm/v1/today", &token)
        .await
        .expect(401);
    peer.crm("/today").await.expect(200);
}

#[tokio::test]
async fn any_one_write_scope_opens_the_commands_and_each_type_needs_its_own() {
    let mut peer = Peer::start().await;
    peer.becomes("tasks", |client| client.scopes(["crm:tasks:write"]));
    let task = json!({"commandType": "task.create", "payload": {"title": "Call"}});
    peer.command(&task).await.expect(201);
    let person = json!({"commandType": "person.create", "payload": {"displayName": "Ann Lee"}});
    peer.command(&person).await.expect(403);
}

#[tokio::test]
async fn the_platform_words_its_refusals_as_documented_and_the_others_do_not() {
    let mut peer = Peer::start().await;
    peer.becomes("poor", |client| {
        client.scopes(["platform.publications:read"])
    });
    let got = peer.get(App::Platform, "/platform/v1/apps").await;
    let id = got.header("x-request-id").unwrap().to_owned();
    let error = &got.expect(403)["error"];
    assert_eq!(error["code"], "insufficient_scope");
    assert_eq!(error["requestId"], id);
    assert_eq!(error["retryable"], false);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("suite.apps:read")
    );

    let crm = peer.crm("/people").await.expect(403);
    assert!(crm.get("error").is_none() && crm["code"].is_string());
}

#[tokio::test]
async fn an_audience_can_be_another_than_the_origin() {
    let peer = Peer::of(
        ReferenceServer::builder()
            .audience(App::Crm, "urn:suite:crm")
            .start()
            .await,
    );
    assert!(
        peer.server
            .environment()
            .contains(&("SUITE_CRM_AUDIENCE".to_owned(), "urn:suite:crm".to_owned()))
    );
    peer.crm("/today").await.expect(200);
}
