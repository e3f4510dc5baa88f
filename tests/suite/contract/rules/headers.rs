//! Headers that the SDK sets, which nobody else may, and the one that the contract requires of a JSON body.

use sdk_reference_server::{App, Operation};
use serde_json::json;

use crate::contract::both::Both;
use crate::samples::event;

#[tokio::test]
async fn what_the_sdk_sets_itself_is_not_taken_from_the_caller() {
    let both = Both::sides_of(App::Crm).await;
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
        let call = both.world.crm.people().list().header(name, "anything");
        let why = format!("`header {name}` must be left to the SDK: got one from the caller");
        both.sdk_refuses(call, &why).await;
    }
    let command = both.world.crm.commands().submit(json!({}));
    let why =
        "`header Idempotency-Key` must be set with `idempotency_key` on the call: got a header";
    both.sdk_refuses(command.header("Idempotency-Key", "a-key-of-its-own"), why)
        .await;
}

#[tokio::test]
async fn a_header_that_http_does_not_allow_is_not_sent() {
    let both = Both::sides_of(App::Crm).await;
    let list = both.world.crm.people().list();

    let why = "`header x-note` must have only visible ASCII characters: got others";
    for value in ["a\r\nx-forged: 1", "ü", "\0"] {
        both.sdk_refuses(list.clone().header("x-note", value), why)
            .await;
    }
    let why = "`header x note` must have a valid HTTP header name: got an invalid one";
    both.sdk_refuses(list.header("x note", "a"), why).await;
}

#[tokio::test]
async fn other_headers_of_the_caller_arrive() {
    let both = Both::sides_of(App::Crm).await;

    let people = both.world.crm.people().list().header("x-note", "for Ada");
    people.await.unwrap();

    assert_eq!(
        both.world.last(Operation::ListPeople).header("x-note"),
        Some("for Ada")
    );
}

/// The SDK sends no body of another type: `wire` looks at every request.
#[tokio::test]
async fn a_body_that_does_not_say_that_it_is_json_is_refused() {
    let calendar = Both::sides_of(App::Calendar).await;
    let body = serde_json::to_string(&event("Kick-off")).unwrap();
    let path = "/calendar/v1/event-commands";
    for media_type in ["text/plain", "application/x-www-form-urlencoded"] {
        let key = Some("a-key-of-its-own");
        let reply = calendar.bypass.post_as(media_type, path, key, &body).await;
        assert_eq!(reply.status, 400, "{media_type}: {}", reply.body);
    }
    assert_eq!(
        calendar.world.server.commits(Operation::SubmitEventCommand),
        0
    );

    let crm = Both::sides_of(App::Crm).await;
    let command = json!({"commandType": "person.create", "payload": {"displayName": "Ann"}});
    let path = "/api/crm/v1/commands";
    let reply = crm
        .bypass
        .post_as("text/plain", path, None, &command.to_string())
        .await;
    assert_eq!(reply.status, 400);
    let reply = crm
        .bypass
        .post_as("application/json", path, None, "{")
        .await;
    assert_eq!(reply.status, 400);
    assert_eq!(crm.world.server.commits(Operation::SubmitCommand), 0);
}
