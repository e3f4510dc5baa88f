//! The Platform: publications (A83), the visibility of apps, and the error envelope.

use sdk_reference_server::App;
use serde_json::json;

use crate::peer::{Peer, rows};
use crate::rows::{COMMANDS, EVENTS, KEY, filled, record_command, send};

/// The command that ends the publication of a sample record, if there is one, and the end of the publication's path.
const PUBLISHED: &str = "
    person.update | crm/person/{person}
    organization.update | crm/organization/{organization}
    none | accounting/counterparty/{counterparty}";

const UNKNOWN: &str = "
    accounting/counterparty/{archived}
    crm/organization/ORG-000000000000
    crm/secret/{person}
    payroll/person/{person}
    platform/person/{person}";

async fn publication(peer: &Peer, path: &str) -> u16 {
    let path = format!("/platform/v1/publications/{path}");
    let got = peer.get(App::Platform, &path).await;
    assert!(got.status == 200 || got.code() == "not_found", "{path}");
    got.status
}

#[tokio::test]
async fn four_types_of_records_are_published_while_they_are_active() {
    let peer = Peer::start().await;
    for [kind, path] in rows(&filled(&peer, PUBLISHED)) {
        assert_eq!(publication(&peer, path).await, 200, "{path}");
        if kind != "none" {
            let archive = record_command(&peer, kind, r#"{"status": "archived"}"#);
            send(&peer, COMMANDS, KEY, &archive).await.expect(201);
            assert_eq!(publication(&peer, path).await, 404, "{path}");
        }
    }
    let event = json!({"operation": "create", "title": "T", "startsAt": "2026-02-02T09:00:00Z",
        "endsAt": "2026-02-02T10:00:00Z", "timezone": "UTC", "collectionReference": "C"});
    let event = send(&peer, EVENTS, KEY, &event).await.expect(201);
    let event = event["publicReference"].as_str().unwrap();
    let path = format!("calendar/event/{event}");
    assert_eq!(publication(&peer, &path).await, 200);
    let cancel = json!({"operation": "cancel", "publicReference": event});
    let key = "another-key-of-its-own";
    send(&peer, EVENTS, key, &cancel).await.expect(200);
    assert_eq!(publication(&peer, &path).await, 404);
    for [unknown] in rows(&filled(&peer, UNKNOWN)) {
        assert_eq!(publication(&peer, unknown).await, 404, "{unknown}");
    }
}

#[tokio::test]
async fn the_installed_apps_are_those_of_the_client() {
    let mut peer = Peer::start().await;
    peer.becomes("crm-only", |client| client.apps([App::Crm]));
    let apps = peer.get(App::Platform, "/platform/v1/apps").await;
    let apps = apps.expect(200)["items"].take();
    assert_eq!((&apps[0]["appId"], &apps[1]), (&json!("crm"), &json!(null)));
}

#[tokio::test]
async fn the_platform_has_an_envelope_for_errors_and_the_others_have_none() {
    let mut peer = Peer::start().await;
    peer.becomes("poor", |client| {
        client.scopes(["platform.publications:read"])
    });
    let got = peer.get(App::Platform, "/platform/v1/apps").await;
    let id = got.header("x-request-id").unwrap().to_owned();
    let mut error = got.expect(403)["error"].take();
    let message = error.as_object_mut().unwrap().remove("message").unwrap();
    assert!(message.as_str().unwrap().contains("suite.apps:read"));
    let rest = json!({"code": "insufficient_scope", "requestId": id, "retryable": false});
    assert_eq!(error, rest);

    let crm = peer.crm("/people").await.expect(403);
    assert!(crm.get("error").is_none() && crm["code"].is_string());
}
