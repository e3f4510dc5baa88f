//! The control endpoint: all control of the server over HTTP. A test in `src/control` checks its responses against
//! `control.yaml`.

use std::time::Duration;

use jiff::Timestamp;
use sdk_reference_server::{App, Builder, ClientSpec, ReferenceServer, Transport};
use serde_json::{Value, json};

use crate::peer::{Got, Peer, part, rows};

struct Control {
    peer: Peer,
    url: String,
}

impl Control {
    async fn of(builder: Builder) -> Control {
        let server = builder.control_port(0).start().await;
        let url = server.control_url().unwrap().to_owned();
        let peer = Peer::of(server);
        Control { peer, url }
    }

    /// Sends `METHOD path` with a body and headers, such as `content-type: application/json, accept: */*`.
    async fn send_as(&self, headers: &str, line: &str, body: &str) -> Got {
        let (method, path) = line.split_once(' ').unwrap();
        let url = format!("{}{path}", self.url);
        let mut request = self.peer.http.request(method.parse().unwrap(), url);
        for header in headers.split(", ") {
            let (name, value) = header.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        self.peer.read(request.body(body.to_owned())).await
    }

    async fn send(&self, line: &str, body: &str) -> Got {
        self.send_as("content-type: application/json", line, body)
            .await
    }

    async fn get(&self, path: &str) -> Value {
        self.send(&format!("GET /-/{path}"), "").await.expect(200)
    }

    async fn post(&self, path: &str, body: &str) -> Value {
        let got = self.send(&format!("POST /-/{path}"), body).await;
        assert!(got.status < 300, "{path}: {}", got.text);
        got.body
    }

    async fn delete(&self, path: &str) -> Value {
        let line = format!("DELETE /-/{path}");
        self.send(&line, "").await.expect(200)
    }

    async fn people(&self, token: &str) -> u16 {
        let people = self.peer.get_with(App::Crm, "/api/crm/v1/people", token);
        people.await.status
    }

    async fn snapshot(&self) -> Vec<Value> {
        let mut seen = Vec::new();
        for path in "state faults fault-log clock tokens clients counters requests".split(' ') {
            seen.push(self.get(path).await);
        }
        seen
    }
}

fn on_hyper() -> Builder {
    ReferenceServer::builder().transport(Transport::Hyper)
}

/// A request, its body, the status, and a part of the error.
const REJECTED: &str = r#"
    GET /-/nowhere | | 404 | no such path
    PUT /-/clock | | 405 | method not allowed
    HEAD /-/reset | | 405 |
    POST /-/clock | | 400 | the body: not JSON
    POST /-/clock | [5] | 400 | the body: must be of type object
    POST /-/clock | {} | 400 | the body: minProperties is 1
    POST /-/clock | {"advanceSeconds": 1, "now": "2026-03-01T09:00:00Z"} | 400 | the body: maxProperties is 1
    POST /-/clock | {"advanceSeconds": -1} | 400 | advanceSeconds: must be at least 0
    POST /-/clock | {"advanceSeconds": 1e15} | 400 | the end of the clock: got 1000000000000000
    POST /-/clock | {"advanceSeconds": 1e300} | 400 | advanceSeconds: must be at most 1e+19
    POST /-/clock | {"now": "2026-02-30T09:00:00Z"} | 400 | now: must be of format date-time
    POST /-/tokens | {"lifetimeSeconds": 301} | 400 | lifetimeSeconds: must be from 0.001 to 300 seconds
    POST /-/tokens | {"lifetimeSeconds": "1", "expires": 1} | 400 | expires: not accepted; lifetimeSeconds: must be of type number
    POST /-/tokens | {"lifetimeSeconds": 0.0009} | 400 | the documented maximum: got 0.0009
    POST /-/clients | {"id": "", "secret": ""} | 400 | id: minLength is 1; secret: minLength is 1
    POST /-/clients | {"id": "x", "secret": "s", "scopes": ["crm:today:read", "crm:peple:read"]} | 400 | scopes[1]: no operation needs "crm:peple:read"
    POST /-/clients | {"id": "x", "secret": "s", "apps": ["crm", "payroll"]} | 400 | apps[1]: must be crm or calendar or accounting or platform
    POST /-/clients | {"id": "x", "secret": "s", "actingFor": "ACR-0"} | 400 | actingFor: no actor has the reference "ACR-0"
    DELETE /-/clients/nobody | | 404 | no client "nobody"
    POST /-/faults | {"faults": [{"then": {"status": 503}}, {"then": {"stauts": 503}}]} | 400 | line 1: fault 2: then.stauts: unknown field
    POST /-/faults | {"faults": [{"when": [], "then": {"status": 503}}]} | 400 | fault 1: when
    POST /-/faults | {"faults": [{"then": {"status": 503}}, {"operation": "x", "then": {"status": 503}}]} | 400 | fault 2
    DELETE /-/faults/7 | | 404 | no fault with the number 7
    POST /-/data | {"people": [{"displayName": "Ada"}, {}]} | 400 | people[1].displayName: missing
    POST /-/data | {"persons": []} | 400 | persons: not accepted
    GET /-/requests?operation=listPeeple | | 400 | operation: no operation has the operationId "listPeeple"
    GET /-/requests?operation=getToday&operation=getFunnel | | 400 | operation: given more than once"#;

#[tokio::test]
async fn an_invalid_request_is_rejected_and_changes_nothing() {
    let control = Control::of(on_hyper().frozen_clock()).await;
    let before = control.snapshot().await;
    for [line, body, status, part] in rows(REJECTED) {
        let got = control.send(line, body).await;
        assert_eq!(got.status.to_string(), status, "{line} {body} {}", got.text);
        let error = got.body["error"].as_str().unwrap_or_default();
        assert!(error.contains(part), "{line} {body}: {error}");
    }
    assert_eq!(control.snapshot().await, before);
    let got = control.send("PUT /-/clock", "").await;
    assert_eq!(got.header("allow"), Some("GET, HEAD, POST"));

    let misspelt = ClientSpec::new("x", "s").scopes(["crm"]);
    let problem = r#"the client: scopes[0]: no operation needs "crm""#;
    let error = on_hyper().client(misspelt).try_start().await.unwrap_err();
    assert_eq!(error.to_string(), problem);
    let idle = on_hyper().faults(r#"{"faults": [{"then": {}}]}"#);
    let error = idle.try_start().await.unwrap_err().to_string();
    assert!(error.starts_with("the faults: ") && error.contains("fault 1: then: "));
}

/// A request, its headers, and the status. A foreign page in a browser can send neither JSON nor the `Origin` of the
/// control endpoint's own page. `OWN` is replaced by its URL, `PORT` by its port, and `CRM` by the URL of an
/// application.
const SENDERS: &str = "
    GET /-/state | host: evil.example | 403
    POST /-/reset | origin: OWN | 200
    POST /-/reset | origin: http://localhost:PORT, host: localhost:PORT | 200
    POST /-/reset | origin: http://[::1]:PORT, host: [::1]:PORT | 200
    POST /-/reset | origin: http://evil.example | 403
    POST /-/reset | origin: http://evil.example:PORT, host: evil.example:PORT | 403
    POST /-/reset | origin: http://localhost:PORT | 403
    POST /-/reset | origin: https://127.0.0.1:PORT | 403
    POST /-/reset | origin: http://127.0.0.1 | 403
    POST /-/reset | origin: CRM | 403
    POST /-/reset | origin: null | 403
    POST /-/reset | origin: OWN.example | 403
    POST /-/clock | origin: OWN | 400
    POST /-/clock | content-type: text/plain | 400
    POST /-/clock | content-type: application/x-www-form-urlencoded | 400
    POST /-/clock | content-type: application/json; charset=utf-8 | 200
    HEAD /-/clock | accept: */* | 200
    GET /-/reset | accept: */* | 405";

#[tokio::test]
async fn only_programs_and_its_own_page_may_send_commands() {
    let control = Control::of(on_hyper()).await;
    let port = control.url.rsplit(':').next().unwrap();
    let table = SENDERS.replace("OWN", &control.url).replace("PORT", port);
    let table = table.replace("CRM", &control.peer.server.crm_url());
    for [line, headers, status] in rows(&table) {
        let got = control.send_as(headers, line, r#"{"advanceSeconds": 1}"#);
        assert_eq!(got.await.status.to_string(), status, "{line} {headers}");
    }
    assert_eq!(on_hyper().start().await.control_url(), None);
}

#[tokio::test]
async fn faults_are_added_listed_logged_and_removed() {
    let control = Control::of(on_hyper()).await;
    let faults = r#"{"faults": [
        {"operation": "listPeople", "when": {"skip": 1, "times": 1}, "then": {"status": 503, "retryAfter": 7}},
        {"operation": "getToday", "then": {"schemaSuffix": "v9"}}]}"#;
    assert_eq!(control.post("faults", faults).await["faults"][0]["id"], 1);
    control.peer.crm("/people").await.expect(200);
    let got = control.peer.crm("/people").await;
    assert_eq!((got.status, got.header("retry-after")), (503, Some("7")));

    let listed = &control.get("faults").await["faults"];
    assert!(listed[0]["struck"] == 1 && listed[0]["spent"] == true);
    assert_eq!(listed[1]["then"], json!({"schemaSuffix": "v9"}));
    let log = &control.get("fault-log").await["strikes"][0];
    assert_eq!(log["operation"], "listPeople");
    assert_eq!(log["effects"], json!({"status": 503, "retryAfter": "7"}));
    assert_eq!(log["requestId"], got.header("x-request-id").unwrap());

    let left = control.delete("faults/1").await;
    assert_eq!(left["faults"].as_array().unwrap().len(), 1);
    control.delete("faults").await;
    let today = control.peer.crm("/today").await.expect(200);
    assert_eq!(today["schemaVersion"], "suite-crm-today.v1");
}

/// A change of the clock, the resulting time, and the status with a token issued at 2026-01-15T09:00:00Z.
const CLOCK: &str = r#"
    {"advanceSeconds": 299.5} | 2026-01-15T09:04:59.5Z | 200
    {"advanceSeconds": 0.5} | 2026-01-15T09:05:00Z | 401
    {"now": "2026-01-15T09:00:00Z"} | 2026-01-15T09:00:00Z | 200
    {"now": "1999-12-31T23:59:59+01:00"} | 1999-12-31T22:59:59Z | 200
    {"now": "2026-03-01T09:00:00Z"} | 2026-03-01T09:00:00Z | 401
    {"now": "9999-12-31T23:59:59Z"} | 9999-12-30T22:00:00.999999999Z | 401
    {"now": "2026-01-01T00:00:00Z"} | 2026-01-01T00:00:00Z | 200"#;

#[tokio::test]
async fn the_clock_can_be_moved_and_tokens_expire_by_it() {
    let control = Control::of(on_hyper().frozen_clock()).await;
    let revoked = control.peer.token(App::Crm).await;
    control.post("tokens/revoke", "").await;
    let token = control.peer.token(App::Crm).await;
    for [change, now, status] in rows(CLOCK) {
        assert_eq!(control.post("clock", change).await["now"], now);
        let seen = control.people(&token).await.to_string();
        assert_eq!(seen, status, "{change}");
        assert_eq!(control.people(&revoked).await, 401, "{change}");
    }
    let earlier = part(&control.peer.token(App::Crm).await, 1);
    assert_eq!(earlier["iat"], 1_767_225_600);
    control.post("reset", "{}").await;
    assert_eq!(control.get("clock").await["now"], "2026-01-15T09:00:00Z");
}

#[tokio::test(start_paused = true)]
async fn a_running_clock_continues_from_the_time_that_was_set() {
    let march: Timestamp = "2026-03-01T09:00:00Z".parse().unwrap();
    let second = Duration::from_secs(1);
    let server = ReferenceServer::in_memory();
    server.advance(Duration::MAX);
    for _ in 0..2 {
        server.set_clock(march);
        tokio::time::advance(second).await;
        assert_eq!(server.now(), march + second);
    }
    for builder in [on_hyper(), on_hyper().wall_clock()] {
        let server = builder.start().await;
        server.set_clock(march);
        let passed = server.now().duration_since(march).as_secs();
        assert!((0..60).contains(&passed), "{passed}");
    }
}

#[tokio::test]
async fn tokens_and_clients_can_be_changed_and_listed() {
    let control = Control::of(on_hyper()).await;
    let change = r#"{"lifetimeSeconds": 30}"#;
    let expected = json!({"lifetimeSeconds": 30.0, "issued": 0});
    assert_eq!(control.post("tokens", change).await, expected);

    let client = r#"{"id": "a/b c", "secret": "hidden-s3cret", "scopes": ["crm:people:read"]}"#;
    control.post("clients", client).await;
    let listed = control.get("clients").await;
    assert_eq!(listed["clients"][0]["id"], "a/b c");
    assert!(!listed.to_string().contains("s3cret"));
    let audience = control.peer.server.audience(App::Crm);
    let form = "grant_type=client_credentials&client_id=a/b+c&client_secret=hidden-s3cret";
    let form = format!("{form}&audience={audience}");
    let granted = control.peer.form(&form).await.expect(200);
    assert_eq!(granted["scope"], "crm:people:read");
    assert_eq!(granted["expires_in"], 30);

    let token = control.peer.token(App::Crm).await;
    for (client, status) in [("a%2Fb%20c", 200), ("reference-client", 401)] {
        control.delete(&format!("clients/{client}")).await;
        assert_eq!(control.people(&token).await, status, "{client}");
    }
    control.peer.form(&control.peer.grant()).await.expect(401);
    assert!(!control.peer.server.remove_client("a/b c"));
}

/// A query, and the numbers of the selected requests among the last three of four.
const SELECTED: &str = "
    | [2,3,4]
    ?operation=webhooks/list | [2,4]
    ?operation=webhooks%2Flist | [2,4]
    ?operation=get+/u | [3]
    ?operation=submitEventCommand | []";

#[tokio::test]
async fn recorded_requests_are_limited_and_can_be_filtered_by_operation_id() {
    let text = r#"{"openapi": "3.1.0", "paths": {"/u": {"get": {"responses": {"204": {}}}},
        "/a": {"get": {"operationId": "webhooks/list", "responses": {"204": {}}}}}}"#;
    let builder = on_hyper().recorded_requests(3).contract(App::Crm, text);
    let control = Control::of(builder).await;
    for path in ["/u", "/a", "/u", "/a"] {
        let got = control.peer.get_with(App::Crm, path, "none").await;
        assert_eq!(got.status, 204);
    }
    for [query, numbers] in rows(SELECTED) {
        let seen = control.get(&format!("requests{query}")).await;
        let requests = seen["requests"].as_array().unwrap();
        let found: Value = requests.iter().map(|one| one["number"].clone()).collect();
        assert_eq!((&seen["limit"], &*found.to_string()), (&json!(3), numbers));
    }
}

#[tokio::test]
async fn the_data_limit_applies_only_to_the_control_endpoint() {
    let usual = 1_048_576;
    for (builder, limit) in [
        (on_hyper(), usual),
        (on_hyper().data_limit(100), 100),
        (on_hyper().data_limit(2 * usual), 2 * usual),
    ] {
        let control = Control::of(builder).await;
        let data = r#"{"people": [{"displayName": "Ada"}]}"#;
        let data = data.to_owned() + &" ".repeat(limit - data.len());
        control.post("data", &data).await;
        let rejected = control.send("POST /-/data", &(data + " ")).await;
        let rule = format!("the body: must have at most {limit} bytes");
        assert!(rejected.text.contains(&rule), "{}", rejected.text);
        assert!(rejected.text.contains("--data-limit"));
        rejected.expect(413);
        // The limit of the applications doesn't change.
        let name = "a".repeat(100);
        let command = json!({"commandType": "person.create", "payload": {"displayName": name}});
        control.peer.command(&command).await.expect(201);
    }
}

#[tokio::test]
async fn counters_requests_and_state_can_be_read() {
    let control = Control::of(on_hyper()).await;
    let command = json!({"commandType": "person.create", "payload": {"displayName": "Only Here"}});
    control.peer.command(&command).await.expect(201);
    let counters = control.get("counters").await;
    let counted = json!({"attempts": 1, "commits": 1});
    assert_eq!(counters["operations"]["submitCommand"], counted);
    assert_eq!(counters["exchanges"], 1);
    assert_eq!(control.get("state").await["data"]["people"], 300);
    let all = control.send("GET /-/requests", "").await.text;
    assert!(all.contains("Only Here") && !all.contains("eyJ"));
    assert!(!all.contains(control.peer.server.client_secret()));
}

/// Changes, by their path.
const CHANGES: &str = r#"
    clock | {"now": "1999-12-31T23:59:59Z"}
    tokens | {"lifetimeSeconds": 3}
    clients | {"id": "b", "secret": "s"}
    faults | {"faults": [{"then": {"delaySeconds": 0.1}}]}
    data | {"people": [{"displayName": "Only Here"}]}"#;

#[tokio::test]
async fn a_reset_restores_the_initial_state() {
    let faults =
        r#"{"faults": [{"operation": "getToday", "when": {"times": 1}, "then": {"status": 503}}]}"#;
    for transport in [Transport::Hyper, Transport::InMemory] {
        let builder = ReferenceServer::builder().transport(transport);
        let control = Control::of(builder.faults(faults).frozen_clock()).await;
        let before = control.snapshot().await;
        for round in 0..2 {
            let token = control.peer.token(App::Crm).await;
            control.peer.crm("/today").await.expect(503);
            control.peer.crm("/today").await.expect(200);
            for [path, body] in rows(CHANGES) {
                control.post(path, body).await;
            }
            control.delete("clients/reference-client").await;
            assert_ne!(control.snapshot().await, before);
            control.post("reset", "").await;
            assert_eq!(control.snapshot().await, before, "{transport:?} {round}");
            assert_eq!(control.people(&token).await, 401);
            let page = control.peer.crm("/people?q=Only%20Here").await;
            assert_eq!(page.expect(200)["items"], json!([]));
            control.post("reset", "").await;
        }
    }
}
