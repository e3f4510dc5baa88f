//! The guide's index of error texts: each is the text of an error.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use sdk_core::{
    App, ClientCredentials, Error, Record, SchemaPolicy, ScopePolicy, Suite, SuiteBuilder,
};
use sdk_reference_server::Operation::{
    ExchangeToken, ListOpportunities, ListPeople, SubmitEventCommand,
};
use sdk_reference_server::{Assumption, ReferenceServer};
use serde_json::json;

use crate::samples::event;

fn builder(server: &ReferenceServer) -> SuiteBuilder {
    Suite::builder()
        .transport(server.service())
        .variables(server.environment())
}

fn crm(builder: SuiteBuilder) -> sdk_crm::Client {
    sdk_crm::Client::new(&builder.build().unwrap()).unwrap()
}

/// What stands between the first pair of marks of each row: the texts of the table.
fn index() -> Vec<String> {
    let page = include_str!("../../../sdk-core/docs/errors.md");
    let (_, table) = page.split_once("# Texts").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let texts = rows.map(|row| {
        let double = row.strip_prefix("` ");
        let text = double.map_or_else(|| row.split_once('`'), |row| row.split_once(" ``"));
        text.unwrap().0.to_owned()
    });
    texts.collect()
}

/// Whether a line has the pieces of a text, in their order.
fn has(line: &str, text: &str) -> bool {
    let mut rest = line;
    text.split('…')
        .all(|piece| match rest.split_once(piece.trim()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}

#[tokio::test(start_paused = true)]
async fn each_text_of_the_index_is_that_of_an_error() {
    let mut errors = unbuilt();
    errors.extend(refused().await);
    errors.extend(failed().await);
    errors.extend(of_commands().await);
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let index = index();
    assert!(index.len() > 30);
    for text in index {
        assert!(
            lines.iter().any(|line| has(line, &text)),
            "{text}: {lines:#?}"
        );
    }
}

/// Errors of settings, and of values that are no call.
fn unbuilt() -> Vec<Error> {
    let credentials = || ClientCredentials::new("id", "secret");
    let suite = |url: &str| Suite::builder().credentials(credentials()).core_url(url);
    let twins = suite("https://suite.test").application_url(App::Crm, "https://suite.test/crm");
    let client = |builder: SuiteBuilder| sdk_crm::Client::new(&builder.build().unwrap());
    let record: Record = r#"{"kind": 1}"#.parse().unwrap();
    let nothing: [(String, String); 0] = [];
    vec![
        Suite::builder().variables(nothing).build().unwrap_err(),
        Suite::builder().build().unwrap_err(),
        suite("http://core.example.com").build().unwrap_err(),
        client(suite("https://suite.test")).unwrap_err(),
        client(twins).unwrap_err(),
        "crmm".parse::<App>().unwrap_err().into(),
        record.get::<String>("kind").unwrap_err(),
        record.decode::<Named>().unwrap_err(),
        std::thread::spawn(without_a_runtime).join().unwrap(),
    ]
}

#[derive(Debug, serde::Deserialize)]
struct Named {
    #[expect(dead_code, reason = "it is missing")]
    name: String,
}

fn without_a_runtime() -> Error {
    let server = ReferenceServer::in_memory();
    let call = crm(builder(&server)).people().list().into_future();
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reply) => reply.unwrap_err(),
        Poll::Pending => unreachable!("it ends at once"),
    }
}

/// Errors of calls that were not let through.
async fn refused() -> Vec<Error> {
    let server = ReferenceServer::in_memory();
    let people = |builder: SuiteBuilder| crm(builder).people();
    let list = people(builder(&server));
    let stranger = ClientCredentials::new(server.client_id(), "another-secret");
    let stranger = builder(&server).credentials(stranger);
    let elsewhere = builder(&server).audience(App::Crm, "https://elsewhere.test");
    let narrow = || builder(&server).scopes(App::Crm, ["crm:today:read"]);
    let checked = narrow().scope_policy(ScopePolicy::Refuse);
    let of_opportunities = crm(builder(&server).schema_policy(SchemaPolicy::Refuse));
    let mut errors = vec![
        list.get("4711").await.unwrap_err(),
        list.get("PER-000000000000").await.unwrap_err(),
        list.list().limit(51).await.unwrap_err(),
        list.list().header("authorization", "no").await.unwrap_err(),
        people(stranger).list().await.unwrap_err(),
        people(elsewhere).list().await.unwrap_err(),
        people(narrow()).list().await.unwrap_err(),
        people(checked).list().await.unwrap_err(),
    ];
    server.fault(ListOpportunities).times(1).schema_suffix("v9");
    let list = of_opportunities.opportunities().list();
    errors.push(list.await.unwrap_err());
    server.fault(ExchangeToken).status(503);
    errors.push(people(builder(&server)).list().await.unwrap_err());
    server.clear_faults();
    server.fault(ExchangeToken).refuse_connection();
    errors.push(people(builder(&server)).list().await.unwrap_err());
    errors
}

/// Errors of reads that failed on their way.
async fn failed() -> Vec<Error> {
    let server = ReferenceServer::in_memory();
    let crm_client = crm(builder(&server));
    let list = || crm_client.people().list();
    let fault = || server.fault(ListPeople);
    let mut errors = Vec::new();
    macro_rules! fails_after {
        ($($fault:expr),* $(,)?) => {$(
            $fault;
            errors.push(list().await.unwrap_err());
            server.clear_faults();
        )*};
    }
    fails_after!(
        fault().status(503),
        fault().status(429).retry_after("60"),
        fault().lose_reply(),
        fault().stall(),
        fault().refuse_connection(),
        fault().status(302),
        fault().body("<html>", "text/html"),
        fault().truncate_body(),
        fault().body(vec![b' '; 17 * 1024 * 1024], "application/json"),
    );
    fault().cursor_loop();
    let mut people = list().items();
    errors.push(loop {
        match people.try_next().await {
            Ok(person) => assert!(person.is_some(), "it never ends"),
            Err(error) => break error,
        }
    });
    server.clear_faults();
    let mut people = list().items();
    people.try_next().await.unwrap();
    let mut others = list().q("ann").items().resume(people.checkpoint());
    errors.push(others.try_next().await.unwrap_err());
    let other_world = ReferenceServer::builder();
    let other_world = other_world.contradict(Assumption::A07).in_memory();
    let mut people = crm(builder(&other_world)).people().list().items();
    errors.push(people.try_next().await.unwrap_err());
    errors
}

/// Errors of commands.
async fn of_commands() -> Vec<Error> {
    let server = ReferenceServer::in_memory();
    let client = |builder: SuiteBuilder| {
        let suite = builder.build().unwrap();
        sdk_calendar::Client::new(&suite).unwrap()
    };
    let (calendar, key) = (client(builder(&server)), "order-4711.delivery");
    let (first, second) = (event("First"), event("Second"));
    let book = |event| calendar.events().command(event);
    book(&first).idempotency_key(key).await.unwrap();
    let mut errors = vec![
        book(&second).idempotency_key(key).await.unwrap_err(),
        book(&second).idempotency_key("short").await.unwrap_err(),
    ];
    let prepared = book(&second).prepare().unwrap();
    let other = client(builder(&server).audience(App::Calendar, "urn:other"));
    errors.push(other.send_prepared(&prepared).await.unwrap_err());
    server.fault(SubmitEventCommand).lose_reply();
    errors.push(book(&second).await.unwrap_err());
    server.clear_faults();
    let secret = server.client_secret();
    let echo = json!({"code": "broken", "message": format!("it was {secret}")}).to_string();
    let fault = server.fault(SubmitEventCommand);
    fault.status(400).body(echo, "application/json");
    errors.push(book(&second).await.unwrap_err());
    errors
}
