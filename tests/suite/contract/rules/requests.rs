//! The headers and query parameters that a caller adds by name.

use sdk_reference_server::Operation;
use serde_json::json;

use super::refuses;
use crate::contract::setup::Setup;

#[tokio::test]
async fn a_header_that_the_sdk_sets_is_rejected() {
    let setup = Setup::in_memory();
    let owned = [
        "Authorization",
        "accept",
        "Content-Type",
        "content-length",
        "Host",
        "Cookie",
        "User-Agent",
        "Accept-Encoding",
        "Content-Encoding",
        "Transfer-Encoding",
        "Connection",
        "Upgrade",
        "TE",
        "Expect",
        "X-HTTP-Method-Override",
    ];

    for name in owned {
        let call = setup.crm.people().list().header(name, "anything");
        let why = format!(
            "`header {name}` must not be set by the caller, because the SDK sets it: got a value"
        );
        refuses(&setup, call, &why).await;
    }
    let command = setup.crm.commands().submit(json!({}));
    let command = command.header("Idempotency-Key", "a-key-of-its-own");
    let why =
        "`header Idempotency-Key` must be set with `idempotency_key` on the call: got a header";
    refuses(&setup, command, why).await;
}

#[tokio::test]
async fn a_header_that_http_does_not_allow_is_rejected() {
    let setup = Setup::in_memory();
    let visible = "`header x-note` must have only visible ASCII characters: got other characters";
    let name = "`header x note` must have a valid HTTP header name: got an invalid name";
    for (header, value, why) in [
        ("x-note", "a\r\nx-forged: 1", visible),
        ("x-note", "ü", visible),
        ("x-note", "\0", visible),
        ("x note", "a", name),
    ] {
        let call = setup.crm.people().list().header(header, value);
        refuses(&setup, call, why).await;
    }
}

#[tokio::test]
async fn a_known_parameter_is_rejected_if_it_is_set_twice() {
    let setup = Setup::in_memory();
    let crm = &setup.crm;
    let why = |name| {
        format!("`{name}` must be set once, with its own method or with `query`: got it twice")
    };
    let twice = crm.people().list().limit(5).query("limit", "6");
    let mut items = twice.clone().items();
    refuses(&setup, twice, &why("limit")).await;
    refuses(&setup, async { items.try_next().await }, &why("limit")).await;
    let search = crm.search().query("ann").query("q", "bob");
    refuses(&setup, search, &why("q")).await;

    let people = crm.people().list().limit(5);
    people.query("tag", "a").query("tag", "b").await.unwrap();
    let query = setup.last_query(Operation::ListPeople);
    assert_eq!(query, "limit=5&tag=a&tag=b");
}
