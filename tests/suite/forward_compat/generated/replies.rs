//! What the replies of an operation decode into, by their status and their media type.

use std::collections::BTreeMap;

use sdk_core::codegen::{Bytes, Call, FromReply, Received, Unreadable};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{
    Effect, Error, ErrorKind, Members, Operation, RawJson, Receipt, Record, Response, SendPrepared,
    testing,
};

use super::notes::{DELETE, EXPORT, LIST, client, command, draft_of, list};
use crate::support::{assert_failed, assert_says};

const JSON: &str = "application/json";

#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    id: i64,
    extra: Members,
}

sdk_core::json_object!(Job { id: required "id" });

impl FromReply for Job {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

/// An export, as the generator declares it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Export {
    /// Ready.
    Ok(Bytes),
    /// Later.
    Accepted(Job),
    /// Nothing to export.
    NoContent,
    /// Another success, which the contract does not show.
    Other {
        /// The HTTP status.
        status: u16,
        /// The body as received; null if there was none.
        body: RawJson,
    },
}

impl FromReply for Export {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        match reply.status() {
            200 => FromReply::receive(reply).map(Self::Ok),
            201 | 202 => FromReply::receive(reply).map(Self::Accepted),
            204 => <()>::receive(reply).map(|()| Self::NoContent),
            status => reply
                .undocumented()
                .map(|body| Self::Other { status, body }),
        }
    }
}

/// What a call makes of this reply.
async fn received<T: FromReply>(status: u16, body: &'static [u8]) -> Result<Response<T>, Error> {
    let transport = ScriptedTransport::new().json(status, body);
    let call = Call::new(&client(&transport), &LIST);
    let draft = call.endpoint().get("/notes");
    let response = call.send::<T>(Ok(draft)).await?;
    // Whatever it decodes into, it is there as it came.
    assert_eq!(
        (response.http_status(), &**response.bytes()),
        (status, body)
    );
    Ok(response)
}

#[tokio::test]
async fn each_status_has_its_own_type_and_another_one_keeps_everything() {
    let job = Job {
        id: 7,
        extra: Members::new(),
    };
    let other: RawJson = r#"{"left": 1.10}"#.parse().unwrap();
    let rows: [(u16, &[u8], _); 6] = [
        (
            200,
            b"\xff\x00",
            Export::Ok(Bytes::from_static(b"\xff\x00")),
        ),
        (201, br#"{"id":7}"#, Export::Accepted(job.clone())),
        (202, br#"{"id":7}"#, Export::Accepted(job)),
        (204, b"", Export::NoContent),
        (
            203,
            br#"{"left": 1.10}"#,
            Export::Other {
                status: 203,
                body: other,
            },
        ),
        (
            299,
            b"",
            Export::Other {
                status: 299,
                body: RawJson::null(),
            },
        ),
    ];
    for (status, body, expected) in rows {
        assert_eq!(*received::<Export>(status, body).await.unwrap(), expected);
    }
}

#[test]
fn only_a_documented_status_has_the_documented_version() {
    static OPERATION: Operation = {
        let mut it = list();
        it.schema_version = Some("job.v1");
        it
    };
    for (version, kind) in [("v1", None), ("v2", Some(ErrorKind::SchemaVersion))] {
        let body = format!(r#"{{"id":7,"schemaVersion":"job.{version}"}}"#);
        let reply = |status| testing::reply(&OPERATION, status).body(body.clone());
        let documented = reply(202).response::<Export>();
        assert_eq!(documented.err().map(|error| error.kind()), kind);
        let other = reply(203).response::<Export>().unwrap();
        assert!(matches!(&*other, Export::Other { body: kept, .. } if kept.as_str() == body));
    }
}

#[tokio::test]
async fn a_body_that_does_not_fit_its_status_is_an_error_with_the_path() {
    let error = received::<Export>(202, br#"{"id":"7"}"#).await.unwrap_err();
    assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
    assert_eq!(error.status(), Some(202));
    assert_says(&error, &["at `id`: expected a 64-bit integer"]);
    let error = received::<Export>(203, b"<html>").await.unwrap_err();
    assert_says(&error, &["203", "the body begins with \"<html>\""]);
    assert_eq!(error.body(), Some(&b"<html>"[..]));
    received::<Export>(404, b"").await.unwrap_err();
}

#[tokio::test]
async fn a_success_without_a_body_is_one_whatever_comes_with_it() {
    for (status, body) in [
        (204, &b""[..]),
        (200, b"{}"),
        (202, b"<h1>Done</h1>"),
        (200, b"\xff"),
    ] {
        received::<()>(status, body).await.unwrap();
    }
    let error = received::<()>(400, b"").await.unwrap_err();
    assert_failed(&error, ErrorKind::Rejected, Effect::Refused);
}

#[tokio::test]
async fn another_media_type_is_kept_as_received() {
    let pdf = received::<Bytes>(200, b"%PDF\xff\0").await.unwrap();
    assert_eq!(&**pdf, &b"%PDF\xff\0"[..]);
}

/// What a call of an operation makes of a reply with this media type.
async fn of_type<T: FromReply>(
    operation: &'static Operation,
    status: u16,
    media_type: &str,
    body: &'static str,
) -> Result<Receipt<T>, Error> {
    let reply = http::Response::builder().status(status);
    let reply = reply.header("content-type", media_type).body(body).unwrap();
    let transport = ScriptedTransport::new().answer(reply);
    let call = Call::new(&client(&transport), operation);
    let draft = draft_of(&call);
    call.command::<T>(Ok(draft)).await
}

static LATER: Operation = {
    let mut it = command();
    it.statuses = &[202, 204];
    it.checked()
};

static CSV: Operation = {
    let mut it = list();
    it.accept = Some("text/csv");
    it.checked()
};

#[tokio::test]
async fn another_success_is_not_taken_for_the_documented_one() {
    let pending = r#"{"state":"pending"}"#;
    let error = of_type::<Bytes>(&CSV, 202, JSON, pending)
        .await
        .unwrap_err();
    assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
    assert_says(
        &error,
        &[
            "202",
            "it is JSON with a status that the contract does not show",
        ],
    );
    // JSON was asked for, or the status is shown, or it is none.
    of_type::<Bytes>(&EXPORT, 202, JSON, pending).await.unwrap();
    of_type::<Bytes>(&CSV, 200, JSON, pending).await.unwrap();
    of_type::<Bytes>(&CSV, 202, "text/csv", pending)
        .await
        .unwrap();

    for operation in [&DELETE, &LATER] {
        let receipt = of_type::<()>(operation, 202, JSON, pending).await.unwrap();
        assert_eq!(receipt.is_committed(), None);
        let receipt = of_type::<()>(operation, 204, JSON, "").await.unwrap();
        assert_eq!(receipt.is_committed(), Some(true));
    }
}

#[tokio::test]
async fn raw_json_of_what_is_no_json_is_null() {
    let null = async |operation, status, media_type, body: &'static str| {
        let receipt = of_type::<RawJson>(operation, status, media_type, body).await;
        let receipt = receipt.unwrap();
        assert_eq!(receipt.bytes(), body);
        assert!(receipt.is_null(), "{body}");
    };
    null(&DELETE, 200, "text/plain", "OK").await;
    null(&DELETE, 200, JSON, "OK").await;
    null(&DELETE, 204, JSON, "").await;
    null(&CSV, 200, "text/csv", "1").await;
    null(&EXPORT, 200, "text/csv", "a;b").await;
    for (operation, status, media_type, body) in [
        // JSON is its success, so that this is none.
        (&LIST, 200, "text/plain", "OK"),
        (&EXPORT, 200, JSON, "OK"),
        (&CSV, 202, JSON, "{}"),
    ] {
        let raw = of_type::<RawJson>(operation, status, media_type, body).await;
        assert_failed(&raw.unwrap_err(), ErrorKind::Decode, Effect::Unknown);
    }
    let raw = of_type::<RawJson>(&DELETE, 200, JSON, "[1.10]")
        .await
        .unwrap();
    assert_eq!(raw.as_str(), "[1.10]");
    of_type::<Job>(&CSV, 200, "text/csv", "1")
        .await
        .unwrap_err();

    let reply = || {
        let reply = http::Response::builder().header("content-type", "text/plain");
        reply.body("done").unwrap()
    };
    let transport = ScriptedTransport::new().answer(reply()).answer(reply());
    let api = client(&transport);
    let call = Call::new(&api, &DELETE);
    let draft = draft_of(&call);
    let command = call.prepare(Ok(draft)).unwrap();
    assert_eq!(
        SendPrepared::new(&api, &command).await.unwrap().bytes(),
        "done"
    );
    let raw = api.raw_call(&DELETE).path("id", "7").await.unwrap();
    assert!(raw.is_null());
}

#[tokio::test]
async fn lists_maps_and_scalars_are_replies_too() {
    let list = received::<Vec<Record>>(200, br#"[{"a":1.10}]"#)
        .await
        .unwrap();
    assert_eq!(list[0].raw().as_str(), r#"{"a":1.10}"#);
    let map = received::<BTreeMap<String, Vec<i64>>>(200, br#"{"b":[1],"a":[]}"#);
    assert_eq!(map.await.unwrap().get("b"), Some(&vec![1]));
    assert_eq!(*received::<String>(200, br#""\u0061""#).await.unwrap(), "a");
    assert!(*received::<bool>(200, b"true").await.unwrap());
    assert_eq!(*received::<i64>(200, b"-7").await.unwrap(), -7);
    assert_eq!(*received::<Option<Job>>(200, b"null").await.unwrap(), None);
    let error = received::<Vec<Job>>(200, br#"[{"id":1},{}]"#)
        .await
        .unwrap_err();
    assert_says(&error, &["at `[1].id`: required member is missing"]);
    let error = received::<bool>(200, b"").await.unwrap_err();
    assert_says(&error, &["the body is empty"]);
}

#[test]
fn a_header_is_there_by_its_name() {
    let reply = || {
        testing::reply(&DELETE, 200)
            .header("etag", "\"7\"")
            .header("x-left", "\u{e9}")
            .json("")
    };
    let (response, receipt) = (
        reply().response::<String>().unwrap(),
        reply().receipt::<()>().unwrap(),
    );
    for (name, value) in [
        ("ETag", Some("\"7\"")),
        ("x-left", None),
        ("x-none", None),
        ("no name", None),
    ] {
        assert_eq!(
            (response.header(name), receipt.header(name)),
            (value, value),
            "{name}"
        );
    }
}
