//! The Platform: what is published (A83), to whom apps are visible, and its envelope of errors.

use sdk_reference_server::App;
use serde_json::{Value, json};

use crate::peer::Peer;
use crate::rows::{COMMANDS, EVENTS, KEY, send};

async fn publication(peer: &Peer, path: &str) -> u16 {
    let path = format!("/platform/v1/publications/{path}");
    let got = peer.get(App::Platform, &path).await;
    assert!(got.status == 200 || got.code() == "not_found", "{path}");
    got.status
}

#[tokio::test]
async fn four_types_of_records_are_published_while_they_are_active() {
    let peer = Peer::start().await;
    let event = json!({"operation": "create", "title": "T", "startsAt": "2026-02-02T09:00:00Z",
        "endsAt": "2026-02-02T10:00:00Z", "timezone": "UTC", "collectionReference": "C"});
    let event = send(&peer, EVENTS, KEY, &event).await.expect(201);
    let [person, organization, counterparty, archived] = [
        peer.server.sample_person(),
        peer.server.sample_organization(),
        peer.server.sample_counterparty(),
        peer.server.archived_counterparty(),
    ];
    let event = event["publicReference"].as_str().unwrap();
    let archive = |kind: &str, subject: &str| {
        let payload = json!({"status": "archived"});
        json!({"commandType": kind, "subjectReference": subject, "payload": payload})
    };
    let cancel = json!({"operation": "cancel", "publicReference": event});
    let over: [(String, Option<(_, Value)>); 4] = [
        (
            format!("crm/person/{person}"),
            Some((COMMANDS, archive("person.update", &person))),
        ),
        (
            format!("crm/organization/{organization}"),
            Some((COMMANDS, archive("organization.update", &organization))),
        ),
        (format!("calendar/event/{event}"), Some((EVENTS, cancel))),
        (format!("accounting/counterparty/{counterparty}"), None),
    ];
    for (path, ends) in over {
        assert_eq!(publication(&peer, &path).await, 200, "{path}");
        if let Some((target, command)) = ends {
            let ended = send(&peer, target, "another-key-of-its-own", &command).await;
            assert!(ended.status < 300, "{}", ended.text);
            assert_eq!(publication(&peer, &path).await, 404, "{path}");
        }
    }
    for unknown in [
        format!("accounting/counterparty/{archived}"),
        "crm/organization/ORG-000000000000".to_owned(),
        format!("crm/secret/{person}"),
        format!("payroll/person/{person}"),
        format!("platform/person/{person}"),
    ] {
        assert_eq!(publication(&peer, &unknown).await, 404, "{unknown}");
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
