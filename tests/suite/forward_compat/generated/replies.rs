//! The types that the responses of an operation decode into, by their status and their media type.

use std::collections::BTreeMap;

use sdk_core::codegen::{Bytes, FromReply, Received, Unreadable};
use sdk_core::testing::{self, ReplyBuilder, ScriptedTransport};
use sdk_core::{Effect, ErrorKind, Method, Operation, RawJson, Record, Safety, SendPrepared};

use super::notes::{CSV, DELETE, EXPORT, LIST, client, command, list};
use crate::support::{assert_failed, assert_says};

const JSON: &str = "application/json";

/// An export, as the generator declares it.
#[derive(Clone, Debug, PartialEq)]
enum Export {
    Ok(Bytes),
    Accepted(Record),
    NoContent,
    /// Another success, which the contract doesn't document.
    Other {
        status: u16,
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

/// A response with this media type and body.
fn reply(
    operation: &'static Operation,
    status: u16,
    media_type: &str,
    body: &'static [u8],
) -> ReplyBuilder {
    let reply = testing::reply(operation, status).header("content-type", media_type);
    reply.body(body)
}

#[test]
fn each_status_has_its_own_type_and_another_one_keeps_everything() {
    let seven = || Export::Accepted(r#"{"id":7}"#.parse().unwrap());
    let other = |status, body: &str| {
        let body = body.parse().unwrap();
        Export::Other { status, body }
    };
    let bytes = Bytes::from_static(b"\xff\x00");
    let rows: [(u16, &[u8], _); 6] = [
        (200, b"\xff\x00", Export::Ok(bytes)),
        (201, br#"{"id":7}"#, seven()),
        (202, br#"{"id":7}"#, seven()),
        (204, b"", Export::NoContent),
        (203, br#"{"left": 1.10}"#, other(203, r#"{"left": 1.10}"#)),
        (299, b"", other(299, "null")),
    ];
    for (status, body, expected) in rows {
        let response = reply(&LIST, status, JSON, body)
            .response::<Export>()
            .unwrap();
        assert_eq!((&*response, &response.bytes()[..]), (&expected, body));
    }
    for (status, body, said) in [
        (202, &b"7"[..], "expected an object"),
        (203, b"<html>", "203 unreadable reply: expected value"),
    ] {
        let error = reply(&LIST, status, JSON, body).response::<Export>();
        let error = error.unwrap_err();
        assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
        assert_eq!((error.status(), error.body()), (Some(status), Some(body)));
        assert_says(&error, &[said]);
    }
}

#[test]
fn only_a_documented_status_has_the_documented_version() {
    static VERSIONED: Operation = {
        let mut it = list();
        it.schema_version = Some("job.v1");
        it
    };
    for (body, kind) in [
        (r#"{"schemaVersion":"job.v1"}"#, None),
        (
            r#"{"schemaVersion":"job.v2"}"#,
            Some(ErrorKind::SchemaVersion),
        ),
    ] {
        let reply = |status| reply(&VERSIONED, status, JSON, body.as_bytes()).response::<Export>();
        assert_eq!(reply(202).err().map(|error| error.kind()), kind);
        let other = reply(203).unwrap();
        assert!(matches!(&*other, Export::Other { body: kept, .. } if kept.as_str() == body));
    }
}

#[test]
fn a_success_that_returns_nothing_takes_any_body_and_is_committed_unless_accepted() {
    static LATER: Operation = {
        let mut it = command("purgeNote", Method::Delete, Safety::Idempotent);
        it.statuses = &[202, 204];
        it.checked()
    };
    for (status, media_type, body, committed) in [
        (204, JSON, &b""[..], Some(true)),
        (202, "text/html", b"<h1>Done</h1>", None),
        (202, JSON, br#"{"state":"pending"}"#, None),
    ] {
        for operation in [&DELETE, &LATER] {
            let receipt = reply(operation, status, media_type, body).receipt::<()>();
            assert_eq!(receipt.unwrap().is_committed(), committed, "{status}");
        }
    }
    for body in [&b"{}"[..], b"\xff"] {
        reply(&LIST, 200, JSON, body).response::<()>().unwrap();
    }
    let error = reply(&DELETE, 400, JSON, b"").receipt::<()>().unwrap_err();
    assert_failed(&error, ErrorKind::Rejected, Effect::Refused);
}

#[test]
fn another_media_type_is_kept_as_received_and_is_null_as_raw_json() {
    let read = |operation, status, media_type, body| {
        let reply = reply(operation, status, media_type, body);
        let (bytes, raw) = (
            reply.clone().response::<Bytes>(),
            reply.response::<RawJson>(),
        );
        if let Ok(bytes) = &bytes {
            assert_eq!((&***bytes, &bytes.bytes()[..]), (body, body));
        }
        (bytes.map(|_| ()), raw.map(|it| it.as_str().to_owned()))
    };
    let pending = &br#"{"state":"pending"}"#[..];
    for (operation, status, media_type, body, json) in [
        (&CSV, 200, "application/pdf", &b"%PDF\xff\0"[..], "null"),
        (&CSV, 200, "text/csv", b"1", "null"),
        (&CSV, 200, JSON, b"{}", "{}"),
        (&CSV, 202, "text/csv", b"a;b", "null"),
        (&EXPORT, 200, "text/csv", b"a;b", "null"),
        // It was asked for.
        (&EXPORT, 202, JSON, b"{}", "{}"),
    ] {
        let (bytes, raw) = read(operation, status, media_type, body);
        bytes.unwrap();
        assert_eq!(raw.unwrap(), json, "{} {media_type}", operation.id);
    }
    // Undocumented JSON is not taken for the documented file.
    let (bytes, raw) = read(&CSV, 202, JSON, pending);
    let undocumented = "it is JSON with a status that the contract does not show";
    assert_says(&bytes.unwrap_err(), &["202", undocumented]);
    assert_failed(&raw.unwrap_err(), ErrorKind::Decode, Effect::Unknown);
    // Where JSON is the success, another body is none.
    for (operation, media_type) in [(&LIST, "text/plain"), (&EXPORT, JSON)] {
        let (_, raw) = read(operation, 200, media_type, b"OK");
        assert_failed(&raw.unwrap_err(), ErrorKind::Decode, Effect::Unknown);
    }
    let error = reply(&CSV, 200, "text/csv", b"1").response::<Record>();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Decode);
}

#[tokio::test]
async fn raw_json_of_a_command_that_returns_nothing_is_null_unless_it_is_json() {
    for (status, media_type, body, json) in [
        (200, "text/plain", &b"OK"[..], "null"),
        (200, JSON, b"OK", "null"),
        (204, JSON, b"", "null"),
        (200, JSON, b"[1.10]", "[1.10]"),
    ] {
        let receipt = reply(&DELETE, status, media_type, body).receipt::<RawJson>();
        let receipt = receipt.unwrap();
        assert_eq!((&receipt.bytes()[..], receipt.as_str()), (body, json));
    }

    let done = || {
        http::Response::builder()
            .header("content-type", "text/plain")
            .body("done")
    };
    let transport = ScriptedTransport::new();
    let transport = transport.answer(done().unwrap()).answer(done().unwrap());
    let api = client(&transport);
    let raw = api.raw_call(&DELETE).path("id", "7");
    let command = raw.clone().prepare().unwrap();
    assert!(raw.await.unwrap().is_null());
    let receipt = SendPrepared::new(&api, &command).await.unwrap();
    assert_eq!(receipt.bytes(), "done");
}

#[test]
fn lists_maps_and_scalars_are_responses_too() {
    fn read<T: FromReply>(body: &'static str) -> Result<T, sdk_core::Error> {
        let response = reply(&LIST, 200, JSON, body.as_bytes()).response::<T>();
        response.map(sdk_core::Response::into_inner)
    }
    let list: Vec<Record> = read(r#"[{"a":1.10}]"#).unwrap();
    assert_eq!(list[0].raw().as_str(), r#"{"a":1.10}"#);
    let map: BTreeMap<String, Vec<i64>> = read(r#"{"b":[1],"a":[]}"#).unwrap();
    assert_eq!(map["b"], [1]);
    assert_eq!(read::<String>(r#""\u0061""#).unwrap(), "a");
    assert!(read::<bool>("true").unwrap());
    assert_eq!(read::<i64>("-7").unwrap(), -7);
    assert_eq!(read::<Option<Record>>("null").unwrap(), None);
    let error = read::<Vec<BTreeMap<String, i64>>>(r#"[{"id":1},{"id":"1"}]"#);
    assert_says(
        &error.unwrap_err(),
        &["at `[1].id`: expected a 64-bit integer"],
    );
    assert_says(&read::<bool>("").unwrap_err(), &["the body is empty"]);
}

#[test]
fn a_header_is_there_by_its_name() {
    let reply = testing::reply(&DELETE, 200).header("etag", "\"7\"");
    let reply = reply.header("x-left", "\u{e9}").json("");
    let response = reply.clone().response::<String>().unwrap();
    let receipt = reply.receipt::<()>().unwrap();
    for (name, value) in [
        ("ETag", Some("\"7\"")),
        ("x-left", None),
        ("x-none", None),
        ("no name", None),
    ] {
        let found = (response.header(name), receipt.header(name));
        assert_eq!(found, (value, value), "{name}");
    }
}
