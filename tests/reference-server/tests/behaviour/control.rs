//! The control endpoint: everything that a test in Rust does, over HTTP.

use reqwest::Method;
use sdk_reference_server::{App, Builder, ClientSpec, ReferenceServer, Transport};
use serde_json::{Value, json};

use crate::peer::{Got, Peer, rows};

struct Control {
    peer: Peer,
    url: String,
}

impl Control {
    async fn start(transport: Transport) -> Control {
        Control::of(ReferenceServer::builder().transport(transport)).await
    }

    async fn of(builder: Builder) -> Control {
        let server = builder.control_port(0).start().await;
        let url = server.control_url().unwrap().to_owned();
        Control {
            peer: Peer::of(server),
            url,
        }
    }

    async fn get(&self, path: &str) -> Value {
        self.send(Method::GET, path).await.expect(200)
    }

    async fn send(&self, method: Method, path: &str) -> Got {
        let url = format!("{}{path}", self.url);
        self.peer.read(self.peer.http.request(method, url)).await
    }

    async fn delete(&self, client: &str, status: u16) {
        let path = format!("/-/clients/{client}");
        self.send(Method::DELETE, &path).await.expect(status);
    }

    async fn today(&self, token: &str) -> u16 {
        let today = self.peer.get_with(App::Crm, "/api/crm/v1/today", token);
        today.await.status
    }

    async fn advance(&self, seconds: f64) {
        let change = json!({"advanceSeconds": seconds});
        self.post("/-/clock", &change).await.expect(200);
    }

    async fn post(&self, path: &str, body: &Value) -> Got {
        let request = self.peer.http.post(format!("{}{path}", self.url));
        let request = request.header("content-type", "application/json");
        self.peer.read(request.body(body.to_string())).await
    }
}

#[tokio::test]
async fn faults_are_put_in_force_listed_logged_and_removed() {
    for transport in [Transport::Hyper, Transport::Wiremock] {
        let control = Control::start(transport).await;
        let faults = json!({"faults": [
            {"operation": "listPeople", "when": {"skip": 1, "times": 1}, "then": {"status": 503, "retryAfter": 7}},
            {"operation": "getToday", "then": {"schemaSuffix": "v9"}},
        ]});
        let added = control.post("/-/faults", &faults).await.expect(201);
        assert_eq!(added["faults"][0]["id"], 1);

        control.peer.crm("/people").await.expect(200);
        let got = control.peer.crm("/people").await;
        assert_eq!((got.status, got.header("retry-after")), (503, Some("7")));
        control.peer.crm("/people").await.expect(200);

        let listed = control.get("/-/faults").await;
        assert_eq!(listed["faults"][0]["struck"], 1);
        assert_eq!(listed["faults"][0]["spent"], true);
        assert_eq!(listed["faults"][1]["then"], json!({"schemaSuffix": "v9"}));
        let log = control.get("/-/fault-log").await;
        assert_eq!(log["strikes"][0]["operation"], "listPeople");
        assert_eq!(
            log["strikes"][0]["effects"],
            json!({"status": 503, "retryAfter": "7"})
        );
        assert_eq!(
            log["strikes"][0]["requestId"],
            got.header("x-request-id").unwrap()
        );

        let left = control
            .send(Method::DELETE, "/-/faults/1")
            .await
            .expect(200);
        assert_eq!(left["faults"].as_array().unwrap().len(), 1);
        control
            .send(Method::DELETE, "/-/faults/1")
            .await
            .expect(404);
        control.send(Method::DELETE, "/-/faults").await.expect(200);
        let today = control.peer.crm("/today").await.expect(200);
        assert_eq!(today["schemaVersion"], "suite-crm-today.v1");
    }
}

#[tokio::test]
async fn a_mistake_in_a_fault_is_named_and_none_is_taken() {
    let control = Control::start(Transport::Hyper).await;
    let faults = json!({"faults": [{"then": {"status": 503}}, {"then": {"stauts": 503}}]});
    let refused = control.post("/-/faults", &faults).await.expect(400);
    let message = refused["error"].as_str().unwrap();
    assert!(
        message.contains("fault 2") && message.contains("stauts"),
        "{message}"
    );
    assert_eq!(control.get("/-/faults").await["faults"], json!([]));
}

#[tokio::test]
async fn time_tokens_and_clients_follow() {
    let control = Control::start(Transport::Hyper).await;
    let token = control.peer.token(App::Crm).await;
    control.advance(299.0).await;
    assert_eq!(control.today(&token).await, 200);
    control.advance(1.5).await;
    assert_eq!(control.today(&token).await, 401);

    let change = json!({"lifetimeSeconds": 30, "expiresIn": 3600});
    let tokens = control.post("/-/tokens", &change).await.expect(200);
    assert_eq!(
        (&tokens["lifetimeSeconds"], &tokens["issued"]),
        (&json!(30.0), &json!(1))
    );
    let token = control.peer.token(App::Crm).await;
    control
        .send(Method::POST, "/-/tokens/revoke")
        .await
        .expect(200);
    assert_eq!(control.today(&token).await, 401);

    let client = json!({"id": "reader", "secret": "s", "scopes": ["crm:people:read"]});
    control.post("/-/clients", &client).await.expect(201);
    let form = format!(
        "grant_type=client_credentials&client_id=reader&client_secret=s&audience={}",
        control.peer.server.audience(App::Crm)
    );
    let granted = control.peer.form(&form).await.expect(200);
    assert_eq!(
        (&granted["scope"], &granted["expires_in"]),
        (&json!("crm:people:read"), &json!(3600))
    );
    let wrong = json!({"id": "x", "secret": "s", "apps": ["payroll"]});
    control.post("/-/clients", &wrong).await.expect(400);
}

#[tokio::test]
async fn counts_requests_and_state_are_shown_and_reset() {
    let control = Control::start(Transport::Hyper).await;
    control.get("/-/health").await;
    let token = control.peer.token(App::Crm).await;
    let command = json!({"commandType": "person.create", "payload": {"displayName": "Only Here"}});
    control.peer.command(&command).await.expect(201);
    let counters = control.get("/-/counters").await;
    assert_eq!(
        counters["operations"]["submitCommand"],
        json!({"attempts": 1, "commits": 1})
    );
    assert_eq!(counters["exchanges"], 2);
    let requests = control.get("/-/requests/submitCommand").await;
    assert_eq!(requests["requests"].as_array().unwrap().len(), 1);
    assert_eq!(requests["requests"][0]["status"], 201);
    let all = control.send(Method::GET, "/-/requests").await.text;
    assert!(!all.contains(control.peer.server.client_secret()) && !all.contains("eyJ"));
    assert_eq!(control.get("/-/state").await["data"]["people"], 300);

    control.send(Method::POST, "/-/reset").await.expect(200);
    assert_eq!(control.get("/-/counters").await["exchanges"], 0);
    assert_eq!(control.today(&token).await, 401);
    let page = control.peer.crm("/people?q=Only%20Here").await;
    assert_eq!(page.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_reset_server_is_as_it_was_started() {
    let faults =
        r#"{"faults": [{"operation": "getToday", "when": {"times": 1}, "then": {"status": 503}}]}"#;
    for transport in [Transport::Hyper, Transport::InMemory] {
        let builder = ReferenceServer::builder()
            .transport(transport)
            .faults(faults);
        let control = Control::of(builder.frozen_clock()).await;
        let whole = async || {
            let mut seen = Vec::new();
            for path in "state faults fault-log clock tokens clients counters requests".split(' ') {
                seen.push(control.get(&format!("/-/{path}")).await);
            }
            seen
        };
        let before = whole().await;
        for round in 0..2 {
            control.peer.crm("/today").await.expect(503);
            control.peer.crm("/today").await.expect(200);
            control.advance(1_000.5).await;
            for (path, body) in [
                (
                    "tokens",
                    json!({"lifetimeSeconds": 3, "omitExpiresIn": true}),
                ),
                ("clients", json!({"id": "b", "secret": "s"})),
                (
                    "faults",
                    json!({"faults": [{"then": {"delaySeconds": 0.1}}]}),
                ),
            ] {
                assert!(control.post(&format!("/-/{path}"), &body).await.status < 202);
            }
            control.delete("reference-client", 200).await;
            assert_ne!(whole().await, before);
            control.send(Method::POST, "/-/reset").await.expect(200);
            assert_eq!(whole().await, before, "{transport:?} {round}");
        }
    }
}

#[tokio::test]
async fn clients_are_listed_without_secrets_and_removed() {
    let control = Control::start(Transport::Hyper).await;
    let client = json!({"id": "a/b c", "secret": "hidden-s3cret", "scopes": ["crm:people:read"]});
    control.post("/-/clients", &client).await.expect(201);
    let listed = control.send(Method::GET, "/-/clients").await;
    assert!(!listed.text.contains("s3cret") && !listed.text.contains("reference-secret"));
    let first = &listed.expect(200)["clients"][0];
    assert_eq!(
        (&first["id"], &first["scopes"]),
        (&client["id"], &client["scopes"])
    );
    let server = &control.peer.server;
    assert_eq!(server.client_ids(), ["a/b c", "reference-client"]);

    let token = control.peer.token(App::Crm).await;
    control.delete("a%2Fb%20c", 200).await;
    assert_eq!(control.today(&token).await, 200);
    control.delete("reference-client", 200).await;
    assert_eq!(control.today(&token).await, 401);
    control.peer.form(&control.peer.grant()).await.expect(401);
    control.delete("reference-client", 404).await;
    assert!(!server.remove_client("a/b c"));
}

/// A client that cannot be, and what is wrong with it.
const REFUSED: &str = r#"
    {"id": "", "secret": "s"} | id: must not be empty
    {"id": "x", "secret": ""} | secret: must not be empty
    {"id": "x", "secret": "s", "scopes": ["crm:today:read", "crm:peple:read"]} | scopes[1]: no operation needs "crm:peple:read"
    {"id": "x", "secret": "s", "apps": ["crm", "payroll"]} | apps[1]: unknown application "payroll"
    {"id": "x", "secret": "s", "actingFor": "ACR-0"} | actingFor: no actor has the reference "ACR-0""#;

#[tokio::test]
async fn a_client_that_cannot_be_is_refused_by_member_and_value() {
    let control = Control::start(Transport::Hyper).await;
    for [client, problem] in rows(REFUSED) {
        let client = serde_json::from_str(client).unwrap();
        let refused = control.post("/-/clients", &client).await.expect(400);
        assert_eq!(refused["error"], problem);
    }
    let starts = async |builder: Builder| builder.try_start().await.unwrap_err().to_string();
    let misspelt = ClientSpec::new("x", "s").scopes(["crm"]);
    let problem = starts(ReferenceServer::builder().client(misspelt)).await;
    assert_eq!(
        problem,
        r#"the client: scopes[0]: no operation needs "crm""#
    );
    let problem = starts(ReferenceServer::builder().faults(r#"{"faults": [{"then": {}}]}"#)).await;
    let expected = "the faults: line 1: fault 1: then: must have an effect: got {}";
    assert_eq!(problem, expected);
}

#[tokio::test]
async fn requests_are_found_by_any_operation_id() {
    let one = json!({"responses": {"204": {}}});
    let mut slashes = one.clone();
    slashes["operationId"] = json!("webhooks/list");
    let text = json!({"openapi": "3.1.0", "paths": {"/a": {"get": slashes}, "/u": {"get": one}}});
    let builder = ReferenceServer::builder().contract(App::Crm, text.to_string());
    let control = Control::of(builder).await;
    for path in ["/a", "/u"] {
        let got = control.peer.get_with(App::Crm, path, "none").await;
        assert_eq!(got.status, 204);
    }
    for id in ["webhooks/list", "webhooks%2Flist", "get%20%2Fu", "get%20/u"] {
        let seen = control.get(&format!("/-/requests/{id}")).await;
        assert_eq!(seen["requests"].as_array().unwrap().len(), 1, "{id}");
    }
    let unknown = control.send(Method::GET, "/-/requests/webhooks").await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn only_programs_on_this_machine_command_it() {
    let control = Control::start(Transport::Hyper).await;
    let http = &control.peer.http;
    let state = format!("{}/-/state", control.url);
    let foreign = http.get(&state).header("host", "evil.example");
    control.peer.read(foreign).await.expect(403);
    let reset = http
        .post(format!("{}/-/reset", control.url))
        .header("origin", "http://evil.example");
    control.peer.read(reset).await.expect(403);
    let plain = http
        .post(format!("{}/-/clock", control.url))
        .body(r#"{"advanceSeconds":1}"#);
    control.peer.read(plain).await.expect(415);
    let other = control.send(Method::PUT, "/-/clock").await;
    assert_eq!(other.header("allow"), Some("GET, POST, HEAD"));
    other.expect(405);
    // A struct takes an array of its members, which is not what is documented.
    for path in ["/-/clock", "/-/tokens", "/-/clients"] {
        let array = json!([5, "s3cret", null, null, null, null]);
        control.post(path, &array).await.expect(400);
    }
    let beyond = control
        .post("/-/clock", &json!({"advanceSeconds": 1e15}))
        .await;
    assert!(
        beyond.expect(400)["error"]
            .as_str()
            .unwrap()
            .contains("where time ends")
    );
    let array = json!({"faults": [{"when": [], "then": {"status": 503}}]});
    control.post("/-/faults", &array).await.expect(400);
    control.send(Method::GET, "/-/nowhere").await.expect(404);
}

#[tokio::test]
async fn there_is_no_control_endpoint_unless_asked_for() {
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .start()
        .await;
    assert_eq!(server.control_url(), None);
}
