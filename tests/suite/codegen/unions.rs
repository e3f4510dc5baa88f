//! Unions of objects that a member tells apart.

use std::collections::BTreeMap;

use sdk_core::codegen::{Check, FromReply, Received, Unreadable, Validate};
use sdk_core::{Effect, Error, ErrorKind, Members, Operation, RawJson, Record, testing};
use serde::de::DeserializeOwned;

use super::notes::LIST;
use crate::support::{assert_failed, assert_says};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    minutes: i64,
    next: Option<Box<Activity>>,
    extra: Members,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    kind: String,
    to: Vec<Record>,
    extra: Members,
}

sdk_core::json_object!(Call {
    minutes: required "minutes", next: optional "next",
} constants { "kind" = "call" });

sdk_core::json_object!(Mail { kind: required "kind", to: required "to" });

impl Validate for Call {
    fn validate(&self, check: &Check<'_>) -> Result<(), Error> {
        check.integer("minutes", self.minutes, 1, 60)
    }
}

impl Validate for Mail {
    fn validate(&self, _check: &Check<'_>) -> Result<(), Error> {
        Ok(())
    }
}

sdk_core::open_union! {
    inputs
    /// What happened.
    pub enum Activity by "kind" {
        /// A call.
        Call(Box<Call>) = "call",
        /// A letter of any sort.
        Mail(Mail) = "email" | "letter",
        /// Nobody knows what is in it.
        Note(Record) = "note",
        /// Even less is known.
        Sums(BTreeMap<String, RawJson>) = "sums",
    }
}

/// A page of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    items: Vec<Activity>,
    total: Option<i64>,
    pinned: Option<Activity>,
    extra: Members,
}

sdk_core::json_object!(Timeline { items: required "items", total: optional "total", pinned: assumed "pinned" });

impl FromReply for Timeline {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

fn call(minutes: i64) -> Activity {
    Box::new(Call {
        minutes,
        ..Call::default()
    })
    .into()
}

/// Calls of so many minutes.
pub(super) fn calls(minutes: [i64; 2]) -> Vec<Activity> {
    minutes.map(call).into()
}

/// The error of a call with this reply.
fn said(body: impl Into<Vec<u8>>) -> Error {
    static OPERATION: &Operation = &LIST;
    let reply = testing::reply(OPERATION, 200).body(body.into());
    reply.response::<Timeline>().unwrap_err()
}

#[test]
fn the_tag_decides_wherever_it_stands_and_what_is_unknown_is_kept() {
    let rows = [
        (r#"{"kind":"call","minutes":7}"#, Some("call")),
        (
            r#"{"kind":"letter","to":[{"a":1.10}],"x":[1.10]}"#,
            Some("letter"),
        ),
        (
            r#"{"kind":"note","big":123456789012345678901234567890}"#,
            Some("note"),
        ),
        (r#"{"a":1.10,"kind":"sums"}"#, Some("sums")),
        (r#"{ "kind": "fax",  "pages": 1.10 }"#, Some("fax")),
        (r#"{"minutes":7}"#, None),
        (r#"{"kind":7}"#, None),
        ("{}", None),
    ];
    for (text, tag) in rows {
        let activity: Activity = read(text);
        assert_eq!(activity.tag().as_deref(), tag, "{text}");
        assert_eq!(serde_json::to_string(&activity).unwrap(), text);
        let is_known = tag.is_some_and(|tag| Activity::KNOWN.contains(&tag));
        assert_eq!(
            !matches!(activity, Activity::Unknown(_)),
            is_known,
            "{text}"
        );
    }
    let late = r#"{"minutes":7,"next":{"to":[],"kind":"email"},"k\u0069nd":"c\u0061ll"}"#;
    let Activity::Call(call) = read(late) else {
        panic!("it is a call")
    };
    let mail = call.next.unwrap();
    assert!(matches!(*mail, Activity::Mail(mail) if mail.kind == "email" && mail.to.is_empty()));
    for other in ["null", "7", r#""call""#, "[]"] {
        assert!(serde_json::from_str::<Activity>(other).is_err(), "{other}");
    }
    let read = serde_json::from_reader::<_, Activity>(r#"{"kind":"fax"}"#.as_bytes());
    assert_eq!(read.unwrap().tag().as_deref(), Some("fax"));
}

#[test]
fn an_object_with_two_tags_is_an_error_however_it_is_read() {
    for text in [
        r#"{"kind":"call","kind":"email","minutes":1}"#,
        r#"{"kind":"note","a":{},"k\u0069nd":"note"}"#,
        r#"{"kind":"fax","kind":"call"}"#,
        r#"{"kind":7,"kind":"call"}"#,
    ] {
        let error = serde_json::from_str::<Activity>(text).unwrap_err();
        assert_says(&error, &["duplicate field `kind`"]);
        let error = said(format!(r#"{{"items":[{text}]}}"#));
        assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
        assert_says(&error, &["at `items[0]"]);
    }
    // The name may occur elsewhere.
    let nested = r#"{"kind":"call","minutes":1,"next":{"kind":"note"},"mankind":1,"b":"\u0061"}"#;
    assert_eq!(read::<Activity>(nested).tag().as_deref(), Some("call"));
}

#[test]
fn an_error_names_the_path_within_the_variant() {
    let of = |item: &str| {
        let error = said(format!(r#"{{"items":[{{"kind":"fax"}},{item}]}}"#));
        assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
        error
    };
    let rows = [
        (
            r#"{"minutes":1.5,"kind":"call"}"#,
            "at `items[1].minutes`: expected a 64-bit integer, found 1.5",
        ),
        (
            r#"{"kind":"call","minutes":1,"next":{"kind":"email","to":[{},7]}}"#,
            "at `items[1].next.to[1]`: expected an object, found 7",
        ),
        (
            r#"{"kind":"call","minutes":1,"next":{"kind":"call","a":1}}"#,
            "at `items[1].next.minutes`: required member is missing; the object has kind, a",
        ),
        (
            r#"{"kind":"email"}"#,
            "at `items[1].to`: required member is missing",
        ),
        ("null", "at `items[1]`: expected an object, found null"),
    ];
    for (item, words) in rows {
        assert_says(&of(item), &[words]);
    }
    // What follows a union is not within it, even if that did not fit and was let be.
    for (minutes, total) in [("1", r#""x""#), ("null", "{}")] {
        let call = format!(r#"{{"kind":"call","minutes":{minutes}}}"#);
        let error = said(format!(r#"{{"pinned":{call},"items":[],"total":{total}}}"#));
        assert_says(&error, &["at `total`: expected a 64-bit integer"]);
    }
    let raw: RawJson = read(r#"{"items":[{"kind":"call","minutes":"secret"}]}"#);
    let error = raw.decode::<Timeline>().unwrap_err();
    assert_says(
        &error,
        &["at `items[0].minutes`: expected a 64-bit integer, found a string of 8 bytes"],
    );
}

#[test]
fn no_depth_of_unions_overflows_the_stack() {
    let nested = |depth: usize| {
        let open = r#"{"kind":"call","minutes":1,"next":"#.repeat(depth);
        format!(r#"{open}{{"kind":"fax"}}{}"#, "}".repeat(depth))
    };
    let deep = nested(100);
    assert_eq!(
        serde_json::to_string(&read::<Activity>(&deep)).unwrap(),
        deep
    );
    for depth in [128, 30_000] {
        let error = said(format!(r#"{{"items":[{}]}}"#, nested(depth)));
        assert_failed(&error, ErrorKind::Decode, Effect::Unknown);
        assert_says(&error, &["recursion limit exceeded"]);
    }
}

#[test]
fn a_variant_is_checked_before_it_is_sent_and_an_unknown_one_is_not() {
    let check = Check::new(&LIST);
    call(60).validate(&check).unwrap();
    let error = call(61).validate(&check.member("activity")).unwrap_err();
    assert_says(&error, &["`activity.minutes` must be from 1 to 60: got 61"]);
    let unknown: Activity = read(r#"{"kind":"fax","minutes":61}"#);
    unknown.validate(&check).unwrap();
}
