//! 401 and 403, for every operation.

use reqwest::Method;
use sdk_reference_server::{App, ClientSpec, Operation, ReferenceServer};
use serde_json::json;

use crate::peer::{Got, Peer};

/// A request for an operation that is good enough to reach its authorization.
async fn ask(peer: &Peer, operation: Operation, token: Option<&str>) -> Got {
    let server = &peer.server;
    let path = operation.path();
    let path = path.replace(
        "{reference}",
        &if path.contains("people") {
            server.sample_person()
        } else if path.contains("organizations") {
            server.sample_organization()
        } else if path.contains("intake") {
            server.sample_intake_submission()
        } else {
            server.sample_opportunity()
        },
    );
    let (app, kind, record) = server.sample_publication();
    let path = path
        .replace("{appId}", &app)
        .replace("{resourceType}", &kind)
        .replace("{sourceRecordId}", &record);
    let query = if operation == Operation::Search {
        "?q=an"
    } else {
        ""
    };
    let url = format!("{}{path}{query}", server.url(operation.app()));
    let mut request = peer
        .http
        .request(operation.method().parse::<Method>().unwrap(), url);
    if operation.method() == "POST" {
        request = request
            .header("content-type", "application/json")
            .body("{}");
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    peer.read(request).await
}

fn protected() -> impl Iterator<Item = Operation> {
    Operation::ALL
        .into_iter()
        .filter(|operation| operation.auth())
}

#[tokio::test]
async fn the_four_open_operations_need_no_token() {
    let peer = Peer::start().await;
    for operation in Operation::ALL {
        if !operation.auth() && operation != Operation::ExchangeToken {
            ask(&peer, operation, None).await.expect(200);
        }
    }
}

#[tokio::test]
async fn the_others_are_refused_without_a_good_one() {
    let peer = Peer::start().await;
    let elsewhere = Peer::start().await;
    for operation in protected() {
        let app = operation.app();
        let got = ask(&peer, operation, None).await;
        assert!(got.header("www-authenticate").is_some(), "{operation:?}");
        assert_eq!(got.status, 401, "{operation:?}");

        let other_audience = peer
            .token(if app == App::Crm {
                App::Calendar
            } else {
                App::Crm
            })
            .await;
        assert_eq!(
            ask(&peer, operation, Some(&other_audience)).await.status,
            401,
            "{operation:?}"
        );

        let foreign = elsewhere.token(app).await;
        assert_eq!(
            ask(&peer, operation, Some(&foreign)).await.status,
            401,
            "{operation:?}"
        );
        assert_eq!(
            ask(&peer, operation, Some("no.to.ken")).await.status,
            401,
            "{operation:?}"
        );
    }
}

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
async fn a_missing_scope_entitlement_or_workspace_is_403() {
    let mut peer = Peer::start().await;
    for operation in protected() {
        let app = operation.app();
        if !operation.scopes().is_empty() {
            let client = ClientSpec::new("no-scope", "x").scopes(["crm:nothing"]);
            peer.becomes(client, "no-scope", "x");
            let token = peer.token(app).await;
            let got = ask(&peer, operation, Some(&token)).await;
            assert_eq!(
                (got.status, got.code().to_lowercase().as_str()),
                (403, "insufficient_scope"),
                "{operation:?}"
            );
        }
        if app != App::Platform {
            let others = App::ALL.into_iter().filter(|other| *other != app);
            peer.becomes(ClientSpec::new("no-app", "x").apps(others), "no-app", "x");
            let token = peer.token(app).await;
            assert_eq!(
                ask(&peer, operation, Some(&token)).await.status,
                403,
                "{operation:?}"
            );

            peer.becomes(
                ClientSpec::new("unbound", "x").without_workspace(),
                "unbound",
                "x",
            );
            let token = peer.token(app).await;
            assert_eq!(
                ask(&peer, operation, Some(&token)).await.status,
                403,
                "{operation:?}"
            );
        }
    }
}

#[tokio::test]
async fn any_one_write_scope_opens_the_commands_and_each_type_needs_its_own() {
    let mut peer = Peer::start().await;
    let client = ClientSpec::new("tasks", "x").scopes(["crm:tasks:write"]);
    peer.becomes(client, "tasks", "x");
    let task = json!({"commandType": "task.create", "payload": {"title": "Call"}});
    peer.post(App::Crm, "/api/crm/v1/commands", &task)
        .await
        .expect(201);
    let person = json!({"commandType": "person.create", "payload": {"displayName": "Ann Lee"}});
    peer.post(App::Crm, "/api/crm/v1/commands", &person)
        .await
        .expect(403);
}

#[tokio::test]
async fn the_platform_words_its_refusals_as_documented_and_the_others_do_not() {
    let mut peer = Peer::start().await;
    let client = ClientSpec::new("poor", "x").scopes(["platform.publications:read"]);
    peer.becomes(client, "poor", "x");
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
