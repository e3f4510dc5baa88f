//! Platform: token, apps, organization, publications.

use sdk_core::{RawJson, Response};
use sdk_platform::types::{TokenForm, TokenResponse};
use sdk_reference_server::{App, Operation};
use serde_json::json;

use super::operations;
use crate::contract::setup::Setup;
use crate::support::{Clients, answer, assert_says};

operations! {
    ExchangeToken: |setup| setup.platform.oauth().token(&token_request(setup)) => a_token,
        401 "invalid_client" "": |setup| setup.platform.oauth().token(&token_request(setup).client_secret("wrong"));
    ListApps: |setup| setup.platform.apps().list() => three_apps;
    GetOrganizationContext: |setup| setup.platform.organization().get() => an_active_installation;
    GetPublication: |setup| {
            let (app, kind, record) = setup.server.sample_publication();
            setup.platform.publications().get(app, kind, record)
        } => one_projection,
        404 "not_found" "": |setup| setup.platform.publications().get("crm", "spaceship", "1");
}

fn token_request(setup: &Setup) -> TokenForm {
    TokenForm::new()
        .client_id(setup.server.client_id())
        .client_secret(setup.server.client_secret())
        .audience(setup.server.audience(App::Crm))
        .scope("crm:people:read crm:tasks:read")
}

fn a_token(setup: &Setup, token: &Response<TokenResponse>) {
    assert!(!token.access_token.as_ref().unwrap().expose().is_empty());
    assert_eq!(token.token_type.as_deref(), Some("Bearer"));
    assert_eq!(token.expires_in, Some(300));
    assert_eq!(token.scope, token_request(setup).scope);
    let seen = setup.last(Operation::ExchangeToken);
    let form = String::from_utf8(seen.body().to_vec()).unwrap();
    assert!(form.starts_with("grant_type=client_credentials&"), "{form}");
    let scope = "scope=crm%3Apeople%3Aread+crm%3Atasks%3Aread";
    assert_says(&form, &[scope]);
}

fn three_apps(_: &Setup, apps: &Response<RawJson>) {
    let items = &apps.to_value().unwrap()["items"];
    let ids = [&items[0]["appId"], &items[1]["appId"], &items[2]["appId"]];
    assert_eq!(ids, ["crm", "calendar", "accounting"]);
}

fn an_active_installation(_: &Setup, context: &Response<RawJson>) {
    let installation = &context.to_value().unwrap()["installation"];
    assert_eq!(installation["status"], "active");
}

fn one_projection(setup: &Setup, publication: &Response<RawJson>) {
    let (app, kind, record) = setup.server.sample_publication();
    let value = publication.to_value().unwrap();
    assert_eq!(value["sourceRecordId"], *record);
    let path = format!("/platform/v1/publications/{app}/{kind}/{record}");
    assert_eq!(setup.last(Operation::GetPublication).path, path);
}

#[tokio::test]
async fn a_publication_needs_the_entitlements_of_the_platform_and_of_its_source() {
    let setup = Setup::in_memory();
    let (app, kind, record) = setup.server.sample_publication();
    let entitled = [vec![App::Crm], vec![App::Platform, App::Calendar]];

    for (apps, missing) in entitled.into_iter().zip(["platform", "crm"]) {
        let platform = setup.suite_of(|client| client.apps(apps)).platform();

        let publication = platform.publications().get(&*app, &*kind, &*record);
        let error = publication.await.unwrap_err();

        assert!(error.is_forbidden());
        assert_eq!(error.code(), Some("entitlement_required"));
        let message = format!("the client is not entitled to {missing}");
        assert_eq!(error.message(), message);
    }
}

/// Only the Platform's envelope documents whether a retry is possible.
#[tokio::test]
async fn the_envelope_decides_whether_an_error_is_retryable() {
    let setup = Setup::in_memory();
    for (retryable, attempts) in [(false, 1), (true, 3)] {
        let envelope = json!({"error": {
            "code": "maintenance",
            "message": "down for the day",
            "requestId": "req-of-the-envelope",
            "retryable": retryable,
        }});
        let fault = answer(&setup.server, Operation::ListApps, envelope.to_string());
        let fault = fault.status(503);

        let error = setup.platform.apps().list().await.unwrap_err();

        let got = (error.is_retryable(), error.attempts());
        assert_eq!(got, (retryable, attempts));
        assert_eq!(error.code(), Some("maintenance"));
        assert_eq!(error.message(), "down for the day");
        assert_eq!(error.request_id(), Some("req-of-the-envelope"));
        fault.remove();
    }
}
