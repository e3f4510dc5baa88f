//! What a token must have: validity, audience, entitlement, workspace, scope. The rules hold for every protected
//! operation, also where the endpoint table does not list 401 and 403.

use fastrand::Rng;
use sdk_reference_server::{App, ClientSpec, Operation};

use crate::driver::{Driver, Mode};
use crate::pool::Pool;
use crate::{spec, valid};

pub(crate) async fn check(mode: Mode) {
    let (mut driver, elsewhere) = (Driver::start(mode).await, Driver::start(mode).await);
    let mut random = Rng::with_seed(3);
    add_clients(&driver);
    for operation in spec::operations() {
        let app = App::from_id(operation.app).unwrap();
        let request = valid::request(operation, &mut random, &Pool::default());
        let known = Operation::named(&operation.id).unwrap();
        assert_eq!(known.auth(), operation.protected, "{}", operation.id);
        if !operation.protected {
            continue;
        }
        let other = if app == App::Crm {
            App::Calendar
        } else {
            App::Crm
        };
        let foreign = driver
            .token(other, driver.peer.client_id(), driver.peer.client_secret())
            .await;
        let wrong = [
            None,
            Some("Bearer"),
            Some("Bearer eyJ.e30.x"),
            Some("Basic cmVmOnNlY3JldA=="),
        ];
        let (id, secret) = (elsewhere.peer.client_id(), elsewhere.peer.client_secret());
        let of_another_server = elsewhere.token(app, id, secret).await;
        let foreign = [foreign, of_another_server].map(|token| format!("Bearer {token}"));
        let foreign = foreign.iter().map(|token| Some(token.as_str()));
        for authorization in wrong.into_iter().chain(foreign) {
            let reply = driver.call_as(operation, &request, authorization).await;
            assert_eq!(reply.status, 401, "{} {authorization:?}", operation.id);
            assert!(reply.is_challenge, "{} {authorization:?}", operation.id);
        }
        let mut lacking = Vec::new();
        if app != App::Platform {
            lacking.extend(["unentitled".to_owned(), "unbound".to_owned()]);
        }
        if !known.scopes().is_empty() {
            lacking.push(format!("without-{}", operation.id));
        }
        for id in lacking {
            let token = driver.token(app, &id, "secret").await;
            let reply = driver
                .call_as(operation, &request, Some(&format!("Bearer {token}")))
                .await;
            assert_eq!(reply.status, 403, "{} {id}", operation.id);
            let code = match &*id {
                "unentitled" => "entitlement_required",
                "unbound" => "workspace_binding_required",
                _ => "insufficient_scope",
            };
            let told = reply.text.to_lowercase();
            assert!(told.contains(code), "{} {id}: {told}", operation.id);
        }
        // Any one of its scopes admits the call.
        for scope in known.scopes() {
            let token = driver.token(app, &format!("only-{scope}"), "secret").await;
            let reply = driver
                .call_as(operation, &request, Some(&format!("Bearer {token}")))
                .await;
            assert!(
                reply.status != 401 && reply.status != 403,
                "{} {scope}",
                operation.id
            );
        }
    }
}

fn add_clients(driver: &Driver) {
    let server = &driver.peer;
    server.add_client(ClientSpec::new("unentitled", "secret").apps([]));
    server.add_client(ClientSpec::new("unbound", "secret").without_workspace());
    for operation in Operation::ALL {
        let mut without = ClientSpec::new(format!("without-{}", operation.id()), "secret");
        for scope in operation.scopes() {
            without = without.without_scope(scope);
            server.add_client(ClientSpec::new(format!("only-{scope}"), "secret").scopes([*scope]));
        }
        server.add_client(without);
    }
}
