//! Operations that nobody has written a handler for: their requests are checked against an `OpenAPI` document, and their
//! replies are samples of its schemas.
//!
//! What belongs here needs no knowledge of an application. State does not: what was created is not found again.

mod assumed;
mod check;
mod contract;
mod document;
mod format;
mod merge;
mod parameter;
#[cfg(test)]
mod property;
mod reply;
mod request;
mod sample;
mod served;
mod text;

use std::sync::OnceLock;

use crate::app::App;
use crate::generated::contracts;
use crate::generated::operations::Operation;
pub(crate) use assumed::{fields, has};
pub(crate) use contract::Contract;
pub(crate) use reply::{refused, serve};
pub(crate) use request::{Broken, Sent, read};
pub(crate) use served::{EXCHANGE, Served};

/// The contract of `app` that this package holds, read when it is first needed, or everything in it that cannot be served.
pub(crate) fn built_in(app: App) -> Result<&'static Contract, &'static str> {
    static READ: [OnceLock<Result<Contract, String>>; App::ALL.len()] =
        [const { OnceLock::new() }; App::ALL.len()];
    let read = || {
        let mut contract = Contract::read(app, contracts::contract(app).spec)?;
        for operation in Operation::all().filter(|it| it.app() == app) {
            let place = contract.place(operation.method(), operation.path());
            let missing = || format!("{} is not in its contract", operation.id());
            contract.operations[place.ok_or_else(missing)?].written = Some(operation);
        }
        Ok(contract)
    };
    READ[app.index()]
        .get_or_init(read)
        .as_ref()
        .map_err(|it| &**it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Base;
    use crate::builder::Builder;
    use crate::call::Call;
    use crate::message::Request;
    use crate::suite::Suite;
    use crate::token::key::TokenKey;

    /// Requests to the control endpoint, their bodies, and the statuses of the answers.
    const CONTROLLED: &str = r#"GET /-/health | | 200
GET /-/openapi.yaml | | 200
GET /-/state | | 200
POST /-/faults | {"faults": [{"operation": "getHealth", "then": {"schemaSuffix": "v9", "cursorLoop": 1, "loseReply": true}}]} | 201
POST /-/faults | {"faults": [{"when": {"skip": 1, "every": 2, "times": 3, "probability": 0.5, "seed": 7, "path": "a", "client": "b", "header": {"name": "c"}, "member": {"pointer": "/d", "value": 1}}, "then": {"status": 503}}]} | 201
POST /-/faults | {"faults": [{"then": {"delaySeconds": 0.5, "status": 503, "replyAfterCommitWith": 503, "retryAfter": 1, "headers": {"x": "y"}, "body": {"text": "z"}, "refuseConnection": true, "closeConnection": true, "loseReply": true, "stall": true, "truncateBody": true, "breakBody": true, "dripBody": {"bytes": 1, "pauseSeconds": 0.1}, "revokeToken": true, "tokenLifetimeSeconds": 1, "tokenExpiresIn": "soon", "omitExpiresIn": true, "unknownEnum": true, "unknownMember": true, "schemaSuffix": "v9", "cursorLoop": 1}}]} | 201
POST /-/faults | {"faults": [{"then": {}}]} | 400
POST /-/data | {"people": [{"displayName": "Ada Lovelace"}]} | 201
POST /-/data | {"people": [{}]} | 400
GET /-/faults | | 200
GET /-/fault-log | | 200
DELETE /-/faults/1 | | 200
DELETE /-/faults/1 | | 404
DELETE /-/faults | | 200
GET /-/clock | | 200
POST /-/clock | {"advanceSeconds": 301} | 200
POST /-/clock | {"advanceSeconds": -1} | 400
GET /-/tokens | | 200
POST /-/tokens | {"lifetimeSeconds": 30, "expiresIn": "soon"} | 200
POST /-/tokens | {"omitExpiresIn": true} | 200
POST /-/tokens | {"omitExpiresIn": true, "expiresIn": 1} | 400
POST /-/tokens/revoke | | 200
POST /-/clients | {"id": "reader", "secret": "s", "scopes": ["crm:people:read"], "apps": ["crm"]} | 201
POST /-/clients | {"id": "", "secret": "s"} | 400
GET /-/clients | | 200
DELETE /-/clients/reader | | 200
DELETE /-/clients/reader | | 404
GET /-/counters | | 200
GET /-/requests | | 200
GET /-/requests/getHealth | | 200
GET /-/requests/nobody | | 404
POST /-/reset | | 200"#;

    fn control(suite: &Suite, line: &str, body: &str) -> (Request, crate::message::Reply) {
        let (method, path) = line.split_once(' ').unwrap();
        let headers = [("host", "localhost"), ("content-type", "application/json")];
        let header = |(name, value): (&str, &str)| (name.parse().unwrap(), value.parse().unwrap());
        let request = Request {
            method: method.parse().unwrap(),
            version: http::Version::HTTP_11,
            path: path.to_owned(),
            query: None,
            authority: None,
            headers: headers.map(header).into_iter().collect(),
            body: body.to_owned().into(),
        };
        let reply = crate::control::answer(suite, &request);
        (request, reply)
    }

    #[test]
    fn every_answer_of_the_control_endpoint_is_as_its_document_says() {
        let settings = Builder::default().transport(crate::Transport::InMemory);
        let key = TokenKey::new(&settings, true).unwrap();
        let bases = App::each(|app| Base::read("", &format!("http://{app}")).unwrap());
        let suite = Suite::new(settings, key, bases, None).unwrap();
        let (health, document) = control(&suite, "GET /-/openapi.yaml", "");
        let document = std::str::from_utf8(&document.body).unwrap();
        let contract = Contract::read(App::Crm, document).unwrap();
        assert!(contract.notes.is_empty(), "{:?}", contract.notes);
        let mut unseen: Vec<&str> = contract.operations.iter().map(|one| &*one.id).collect();
        for line in CONTROLLED.lines() {
            let (line, rest) = line.split_once(" | ").unwrap();
            let (body, status) = rest.rsplit_once("| ").unwrap();
            if line == "GET /-/fault-log" {
                let path = "/api/health".to_owned();
                suite.handle(
                    App::Crm,
                    &Request {
                        path,
                        ..health.clone()
                    },
                );
            }
            let (request, reply) = control(&suite, line, body);
            assert_eq!(
                reply.status.as_str(),
                status,
                "{line} {body}: {:?}",
                reply.body
            );

            let operations = &contract.operations;
            let found = crate::routing::route(operations, &request.method, &request.path).unwrap();
            let known = found.operation;
            let responses = &known.raw["responses"];
            let shown = responses.get(status).unwrap_or(&responses["default"]);
            let (media, content) = shown["content"].as_object().unwrap().iter().next().unwrap();
            assert_eq!(reply.headers["content-type"], **media);
            if media == "application/json" {
                let json = serde_json::from_slice(&reply.body).unwrap();
                let problems = check::problems(
                    &known.document,
                    check::Side::Reply,
                    &content["schema"],
                    &json,
                    "",
                );
                assert!(problems.is_empty(), "{line}: {problems:?} {json}");
            }
            let taken = &known.raw["requestBody"]["content"]["application/json"];
            let bodies = [body.to_owned(), taken["example"].to_string()];
            for body in bodies
                .iter()
                .filter(|_| status.starts_with('2') && !taken.is_null())
            {
                let json = serde_json::from_str(body).unwrap();
                let problems = check::problems(
                    &known.document,
                    check::Side::Request,
                    &taken["schema"],
                    &json,
                    "",
                );
                assert!(problems.is_empty(), "{line}: {problems:?} {json}");
            }
            unseen.retain(|id| *id != &*known.id);
        }
        assert!(unseen.is_empty(), "{unseen:?}");
    }

    #[test]
    fn every_operation_is_in_its_contract_whatever_its_id_is() {
        for app in App::all() {
            let text = contracts::contract(app).spec;
            let renamed = text.replace("operationId: ", "operationId: vendors_");
            let renamed = Contract::read(app, &renamed).unwrap();
            for operation in Operation::all().filter(|it| it.app() == app) {
                let path = operation.path().replace('{', "{the_");
                for contract in [built_in(app).unwrap(), &renamed] {
                    let place = contract.place(operation.method(), &path);
                    assert!(place.is_some(), "{operation:?}");
                }
            }
        }
    }

    #[test]
    fn every_operation_of_this_package_can_be_served() {
        let settings = Builder::default();
        let bases = App::each(|app| Base::read("", &format!("http://{app}")).unwrap());
        let key = TokenKey::new(&settings, true).unwrap();
        let suite = Suite::new(settings, key, bases, None).unwrap();
        let request = Request {
            method: http::Method::GET,
            version: http::Version::HTTP_11,
            path: String::new(),
            query: None,
            authority: None,
            headers: http::HeaderMap::new(),
            body: bytes::Bytes::new(),
        };
        let served = Operation::all().filter(|operation| {
            let call = Call {
                suite: &suite,
                operation: suite.named(*operation),
                request: &request,
                params: vec!["PER-0123456789AB".to_owned(); 3],
                sent: Sent::default(),
                caller: None,
                terms: crate::token::exchange::Terms::default(),
                now: suite.clock.now(),
            };
            serve(&call).is_ok_and(|reply| reply.status.is_success())
        });
        let served: Vec<&str> = served.map(Operation::id).collect();
        assert!(
            served.len() > 20 && served.contains(&"getPersonTimeline"),
            "{served:?}"
        );
    }
}
