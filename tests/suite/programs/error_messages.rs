//! The index of error messages in `troubleshooting.md`: each row is the message of an error that a test causes.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use sdk_core::{
    App, ClientCredentials, Error, Record, SchemaPolicy, ScopePolicy, Suite, SuiteBuilder,
};
use sdk_reference_server::Operation::{
    ExchangeToken, ListOpportunities, ListPeople, SubmitEventCommand,
};
use sdk_reference_server::{Assumption, Fault, ReferenceServer};
use serde_json::json;

use crate::fixtures::{at_once, in_memory, reaching};
use crate::samples::event;
use crate::support::Clients as _;

/// Returns the messages of the table, which are in the first code span of each row.
fn index() -> impl Iterator<Item = &'static str> {
    let page = include_str!("../../../sdk-core/docs/troubleshooting.md");
    let (_, table) = page.split_once("# Error messages").unwrap();
    let (table, _) = table.split_once("\n# ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let text = |row: &'static str| match row.strip_prefix("` ") {
        Some(row) => row.split_once(" ``"),
        None => row.split_once('`'),
    };
    rows.map(move |row| text(row).unwrap().0)
}

/// Returns whether a line contains the parts of a message in order.
fn has(line: &str, text: &str) -> bool {
    let mut pieces = text.split('…').map(str::trim);
    let rest = pieces.try_fold(line, |rest, piece| Some(rest.split_once(piece)?.1));
    rest.is_some()
}

#[tokio::test(start_paused = true)]
async fn each_message_of_the_index_belongs_to_an_error() {
    let mut errors = errors_of_settings();
    errors.extend(errors_before_sending().await);
    errors.extend(errors_of_reads().await);
    errors.extend(errors_of_commands().await);
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(index().count() > 30);
    for text in index() {
        let is_actual = lines.iter().any(|line| has(line, text));
        assert!(is_actual, "{text}: {lines:#?}");
    }
}

/// Returns errors of settings and of invalid values.
fn errors_of_settings() -> Vec<Error> {
    let suite = |url| {
        Suite::builder()
            .core_url(url)
            .credentials(ClientCredentials::new("id", "secret"))
    };
    let twins = suite("https://suite.test").application_url(App::Crm, "https://suite.test/crm");
    let client = |builder: SuiteBuilder| sdk_crm::Client::new(&builder.build().unwrap());
    let record: Record = r#"{"kind": 1}"#.parse().unwrap();
    let no_variables: [(String, String); 0] = [];
    let without_a_runtime = std::thread::spawn(|| {
        let call = in_memory().1.crm().people().list();
        at_once(async { call.await.unwrap_err() })
    });
    vec![
        Suite::builder()
            .variables(no_variables)
            .build()
            .unwrap_err(),
        Suite::builder().build().unwrap_err(),
        suite("http://core.example.com").build().unwrap_err(),
        client(suite("https://suite.test")).unwrap_err(),
        client(twins).unwrap_err(),
        "crmm".parse::<App>().unwrap_err().into(),
        record.get::<String>("kind").unwrap_err(),
        record.decode::<Named>().unwrap_err(),
        without_a_runtime.join().unwrap(),
    ]
}

#[derive(Debug, serde::Deserialize)]
struct Named {
    #[expect(dead_code, reason = "it is missing")]
    name: String,
}

/// Returns errors of calls that were rejected locally.
async fn errors_before_sending() -> Vec<Error> {
    let server = ReferenceServer::in_memory();
    let suite = || reaching(&server);
    let people = suite().crm().people();
    let stranger =
        suite().credentials(ClientCredentials::new(server.client_id(), "another-secret"));
    let elsewhere = suite().audience(App::Crm, "https://elsewhere.test");
    let narrow = || suite().scopes(App::Crm, ["crm:today:read"]);
    let checked = narrow().scope_policy(ScopePolicy::Refuse);
    let mut errors = vec![
        people.get("4711").await.unwrap_err(),
        people.get("PER-000000000000").await.unwrap_err(),
        people.list().limit(51).await.unwrap_err(),
        people
            .list()
            .header("authorization", "no")
            .await
            .unwrap_err(),
    ];
    for suite in [stranger, elsewhere, narrow(), checked] {
        errors.push(suite.crm().people().list().await.unwrap_err());
    }
    server.fault(ListOpportunities).times(1).schema_suffix("v9");
    let strict = suite().schema_policy(SchemaPolicy::Refuse).crm();
    errors.push(strict.opportunities().list().await.unwrap_err());
    server.fault(ExchangeToken).status(503);
    errors.push(suite().crm().people().list().await.unwrap_err());
    server.clear_faults();
    server.fault(ExchangeToken).refuse_connection();
    errors.push(suite().crm().people().list().await.unwrap_err());
    errors
}

/// Returns errors of reads that failed after sending.
async fn errors_of_reads() -> Vec<Error> {
    let server = ReferenceServer::in_memory();
    // Set explicitly, so that the expected error doesn't depend on a default.
    let suite = reaching(&server).timeout(Duration::from_secs(10));
    let suite = suite.deadline(Duration::from_secs(25));
    let people = suite.max_response_bytes(64 * 1024).crm().people();
    let mut errors = Vec::new();
    let faults: [fn(Fault) -> Fault; 9] = [
        |it| it.status(503),
        |it| it.status(429).retry_after("60"),
        Fault::lose_reply,
        Fault::stall,
        Fault::refuse_connection,
        |it| it.status(302),
        |it| it.body("<html>", "text/html"),
        Fault::truncate_body,
        |it| it.body(vec![b' '; 65 * 1024], "application/json"),
    ];
    for fault in faults {
        let fault = fault(server.fault(ListPeople));
        errors.push(people.list().await.unwrap_err());
        fault.remove();
    }
    let circle = server.fault(ListPeople).cursor_loop();
    errors.push(
        people
            .list()
            .items()
            .try_collect::<Vec<_>>()
            .await
            .unwrap_err(),
    );
    circle.remove();
    let mut items = people.list().items();
    items.try_next().await.unwrap();
    let mut others = people.list().q("ann").items().resume(items.checkpoint());
    errors.push(others.try_next().await.unwrap_err());
    let renamed = ReferenceServer::builder().contradict(Assumption::A07);
    let renamed = renamed.in_memory();
    let mut items = reaching(&renamed).crm().people().list().items();
    errors.push(items.try_next().await.unwrap_err());
    errors
}

async fn errors_of_commands() -> Vec<Error> {
    let server = ReferenceServer::in_memory();
    let (calendar, key) = (reaching(&server).calendar(), "order-4711.delivery");
    let (first, second) = (event("First"), event("Second"));
    let book = |event| calendar.events().command(event);
    book(&first).idempotency_key(key).await.unwrap();
    let prepared = book(&second).prepare().unwrap();
    let other = reaching(&server)
        .audience(App::Calendar, "urn:other")
        .calendar();
    let mut errors = vec![
        book(&second).idempotency_key(key).await.unwrap_err(),
        book(&second).idempotency_key("short").await.unwrap_err(),
        other.send_prepared(&prepared).await.unwrap_err(),
    ];
    let lost = server.fault(SubmitEventCommand).lose_reply();
    errors.push(book(&second).await.unwrap_err());
    lost.remove();
    let message = format!("it was {}", server.client_secret());
    let echo = json!({"code": "broken", "message": message}).to_string();
    let fault = server.fault(SubmitEventCommand).status(400);
    fault.body(echo, "application/json");
    errors.push(book(&second).await.unwrap_err());
    errors
}
