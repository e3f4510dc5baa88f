//! The types of an operation's responses, by status and media type.

use std::collections::BTreeMap;
use std::fmt::Debug;

use sdk_core::codegen::{Bytes, FromResponse, Received, Unreadable};
use sdk_core::testing::{self, ScriptedTransport};
use sdk_core::{
    Effect, Error, ErrorKind, Method, Operation, RawJson, Receipt, Record, Safety, SendPrepared,
};

use super::notes::{CSV, DELETE, EXPORT, LIST, client, command, list};
use crate::support::{assert_failed, assert_says};

const JSON: &str = "application/json";

/// A response enum as the generator declares it.
#[derive(Clone, Debug, PartialEq)]
enum Export {
    Ok(Bytes),
    Accepted(Record),
    NoContent,
    /// Another success status, which the contract doesn't document.
    Other {
        status: u16,
        body: RawJson,
    },
}

impl FromResponse for Export {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        match reply.status() {
            200 => FromResponse::receive(reply).map(Self::Ok),
            201 | 202 => FromResponse::receive(reply).map(Self::Accepted),
            204 => <()>::receive(reply).map(|()| Self::NoContent),
            status => reply
                .undocumented()
                .map(|body| Self::Other { status, body }),
        }
    }
}

/// Returns the receipt of an operation with this response.
fn read<T: FromResponse>(
    operation: &'static Operation,
    status: u16,
    media_type: &str,
    body: &'static [u8],
) -> Result<Receipt<T>, Error> {
    let reply = testing::response(operation, status).header("content-type", media_type);
    reply.body(body).receipt()
}

/// Returns the error of a list with this response.
fn error<T: FromResponse + Debug>(status: u16, media_type: &str, body: &'static [u8]) -> Error {
    let error = read::<T>(&LIST, status, media_type, body).unwrap_err();
    assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
    assert_eq!((error.status(), error.body()), (Some(status), Some(body)));
    error
}

#[test]
fn each_status_has_its_own_type_and_other_statuses_preserve_the_response() {
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
        let receipt = read::<Export>(&LIST, status, JSON, body).unwrap();
        assert_eq!((&*receipt, &receipt.bytes()[..]), (&expected, body));
    }
    let other = "203 unreadable response: expected value";
    assert_says(&error::<Export>(202, JSON, b"7"), &["expected an object"]);
    assert_says(&error::<Export>(203, JSON, b"<html>"), &[other]);
}

#[test]
fn only_a_documented_status_has_the_documented_version() {
    static VERSIONED: Operation = {
        let mut it = list();
        it.schema_version = Some("job.v1");
        it
    };
    let later = Some(ErrorKind::SchemaVersion);
    for (body, kind) in [
        (r#"{"schemaVersion":"job.v1"}"#, None),
        (r#"{"schemaVersion":"job.v2"}"#, later),
    ] {
        let read = |status| read::<Export>(&VERSIONED, status, JSON, body.as_bytes());
        assert_eq!(read(202).err().map(|error| error.kind()), kind);
        let other = read(203).unwrap();
        assert!(matches!(&*other, Export::Other { body: kept, .. } if kept.as_str() == body));
    }
}

#[test]
fn a_command_without_a_result_accepts_any_body_and_is_committed_unless_202() {
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
            let receipt = read::<()>(operation, status, media_type, body).unwrap();
            assert_eq!(receipt.is_committed(), committed, "{status}");
        }
    }
    for body in [&b"{}"[..], b"\xff"] {
        read::<()>(&LIST, 200, JSON, body).unwrap();
    }
    let error = read::<()>(&DELETE, 400, JSON, b"").unwrap_err();
    assert_failed(&error, ErrorKind::Rejected, Effect::Refused);
}

#[test]
fn another_media_type_is_preserved_and_is_null_as_raw_json() {
    for (operation, status, media_type, body, json) in [
        (&CSV, 200, "application/pdf", &b"%PDF\xff\0"[..], "null"),
        (&CSV, 200, "text/csv", b"1", "null"),
        (&CSV, 200, JSON, b"{}", "{}"),
        (&CSV, 202, "text/csv", b"a;b", "null"),
        (&EXPORT, 200, "text/csv", b"a;b", "null"),
        // The request asked for this media type.
        (&EXPORT, 202, JSON, b"{}", "{}"),
        // A command without a result has no JSON at all.
        (&DELETE, 200, "text/plain", b"OK", "null"),
        (&DELETE, 200, JSON, b"OK", "null"),
        (&DELETE, 204, JSON, b"", "null"),
        (&DELETE, 200, JSON, b"[1.10]", "[1.10]"),
    ] {
        let raw = read::<RawJson>(operation, status, media_type, body).unwrap();
        assert_eq!((raw.as_str(), &raw.bytes()[..]), (json, body));
        if !operation.safety.is_command() {
            let bytes = read::<Bytes>(operation, status, media_type, body).unwrap();
            assert_eq!((&**bytes, &bytes.bytes()[..]), (body, body));
        }
    }
    // Undocumented JSON is not accepted as the documented file.
    let file = read::<Bytes>(&CSV, 202, JSON, b"{}").unwrap_err();
    let undocumented = "it is JSON with a status that the contract does not document";
    assert_says(&file, &["202", undocumented]);
    // If the documented success is JSON, another body is an error.
    error::<RawJson>(200, "text/plain", b"OK");
    for (operation, status, media_type, body) in
        [(&CSV, 202, JSON, &b"{}"[..]), (&EXPORT, 200, JSON, b"OK")]
    {
        let error = read::<RawJson>(operation, status, media_type, body).unwrap_err();
        assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
    }
    read::<Record>(&CSV, 200, "text/csv", b"1").unwrap_err();
}

#[tokio::test]
async fn the_body_of_a_command_without_a_result_is_preserved_even_from_its_stored_form() {
    let done = http::Response::builder().header("content-type", "text/plain");
    let done = done.body("done").unwrap();
    let transport = ScriptedTransport::new().answer(done.clone()).answer(done);
    let api = client(&transport);
    let raw = api.raw_call(&DELETE).path("id", "7");
    let command = raw.clone().prepare().unwrap();
    assert!(raw.await.unwrap().is_null());
    let receipt = SendPrepared::new(&api, &command).await.unwrap();
    assert_eq!(receipt.bytes(), "done");
}

#[test]
fn lists_maps_and_scalars_are_responses_too() {
    fn of<T: FromResponse>(body: &'static str) -> T {
        let receipt = read::<T>(&LIST, 200, JSON, body.as_bytes());
        receipt.unwrap().into_inner()
    }
    let list: Vec<Record> = of(r#"[{"a":1.10}]"#);
    assert_eq!(list[0].raw().as_str(), r#"{"a":1.10}"#);
    let map: BTreeMap<String, Vec<i64>> = of(r#"{"b":[1],"a":[]}"#);
    assert_eq!(map["b"], [1]);
    assert_eq!(of::<String>(r#""\u0061""#), "a");
    assert!(of::<bool>("true"));
    assert_eq!(of::<i64>("-7"), -7);
    assert_eq!(of::<Option<Record>>("null"), None);
    let odd = error::<Vec<BTreeMap<String, i64>>>(200, JSON, br#"[{"id":1},{"id":"1"}]"#);
    assert_says(&odd, &["at `[1].id`: expected a 64-bit integer"]);
    let empty = error::<bool>(200, JSON, b"");
    assert_says(&empty, &["the body is empty"]);
}

#[test]
fn a_header_is_found_by_its_name() {
    let reply = testing::response(&DELETE, 200).header("etag", "\"7\"");
    let reply = reply.header("x-left", "\u{e9}").json("");
    let response = reply.clone().build::<String>().unwrap();
    let receipt = reply.receipt::<()>().unwrap();
    for name in ["ETag", "x-left", "x-none", "no name"] {
        let found = (response.header(name), receipt.header(name));
        let value = Some("\"7\"").filter(|_| name == "ETag");
        assert_eq!(found, (value, value), "{name}");
    }
}
