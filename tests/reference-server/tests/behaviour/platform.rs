//! The Platform.

use sdk_reference_server::App;
use serde_json::json;

use crate::peer::Peer;

#[tokio::test]
async fn the_installed_apps_are_those_of_the_client() {
    let mut peer = Peer::start().await;
    let all = peer
        .get(App::Platform, "/platform/v1/apps")
        .await
        .expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 3);
    peer.becomes("crm-only", |client| client.apps([App::Crm]));
    let one = peer
        .get(App::Platform, "/platform/v1/apps")
        .await
        .expect(200);
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
    assert_eq!(one["items"][0]["appId"], "crm");
}

#[tokio::test]
async fn the_organization_is_known() {
    let peer = Peer::start().await;
    let body = peer
        .get(App::Platform, "/platform/v1/organization")
        .await
        .expect(200);
    assert!(body["organization"].is_object() && body["installation"].is_object());
}

#[tokio::test]
async fn a_publication_needs_both_entitlements_and_an_active_record() {
    let mut peer = Peer::start().await;
    let (app, kind, record) = peer.server.sample_publication();
    let path = format!("/platform/v1/publications/{app}/{kind}/{record}");
    let body = peer.get(App::Platform, &path).await.expect(200);
    assert_eq!(body["sourceRecordId"], record.as_str());
    for unknown in [
        format!("/platform/v1/publications/{app}/{kind}/ORG-000000000000"),
        format!("/platform/v1/publications/{app}/secret/{record}"),
        format!("/platform/v1/publications/payroll/{kind}/{record}"),
        format!("/platform/v1/publications/platform/{kind}/{record}"),
    ] {
        let got = peer.get(App::Platform, &unknown).await;
        assert_eq!((got.status, got.code()), (404, "not_found"), "{unknown}");
    }
    let archived = peer.server.archived_counterparty();
    peer.get(
        App::Platform,
        &format!("/platform/v1/publications/accounting/counterparty/{archived}"),
    )
    .await
    .expect(404);
    for apps in [vec![App::Platform], vec![App::Crm]] {
        peer.becomes("half", |client| client.apps(apps));
        peer.get(App::Platform, &path).await.expect(403);
    }
}

#[tokio::test]
async fn an_archived_organization_is_published_no_more() {
    let peer = Peer::start().await;
    let (app, kind, record) = peer.server.sample_publication();
    let body = json!({"commandType": "organization.update", "subjectReference": record, "payload": {"status": "archived"}});
    peer.command(&body).await.expect(201);
    peer.get(
        App::Platform,
        &format!("/platform/v1/publications/{app}/{kind}/{record}"),
    )
    .await
    .expect(404);
}
