//! Generated unions of objects with a discriminator.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sdk_adopted::operations::{LIST_PEOPLE, ORGANIZATIONS_HIERARCHY_GET};
use sdk_adopted::types::{Activity, ActivityInput, ActivityInputLogAcall, HierarchyNode};
use sdk_adopted::{Effect, Error, ErrorKind, testing};
use sdk_core::codegen::{Body, Check, Validate};
use serde::de::DeserializeOwned;

use crate::{assert_failed, assert_says};

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

/// The error of a call with this response body.
fn error_of(body: impl Into<Vec<u8>>) -> Error {
    let reply = testing::response(&ORGANIZATIONS_HIERARCHY_GET, 200).body(body.into());
    let error = reply.build::<HierarchyNode>().unwrap_err();
    assert_failed(&error, ErrorKind::Decode, Effect::Unknown, &[]);
    error
}

/// Nested departments around an innermost object.
fn nested(depth: usize, innermost: &str) -> String {
    let open = r#"{"nodeType":"Department","name":"a","children":["#.repeat(depth);
    format!("{open}{innermost}{}", "]}".repeat(depth))
}

#[test]
fn the_tag_selects_the_variant_and_unknown_objects_are_preserved() {
    let texts = [
        r#"{"kind":"call","occurredAt":"2026-01-01T00:00:00Z"}"#,
        r#"{"kind":"letter","occurredAt":"2026-01-01T00:00:00Z","subject":"a","x":[1.10]}"#,
        r#"{ "kind": "fax",  "pages": 1.10 }"#,
        r#"{"seconds":7}"#,
        r#"{"kind":7}"#,
        "{}",
    ];
    for (text, tag) in texts.into_iter().zip(["call", "letter", "fax", "", "", ""]) {
        let activity: Activity = read(text);
        assert_eq!(activity.tag().unwrap_or_default(), tag, "{text}");
        assert_eq!(serde_json::to_string(&activity).unwrap(), text);
        let is_known = !matches!(activity, Activity::Unknown(_));
        assert_eq!(is_known, Activity::KNOWN.contains(&tag), "{text}");
    }
    let late = r#"{"occurredAt":"2026-01-01T00:00:00Z","k\u0069nd":"m\u0065eting",
        "followUps":[{"subject":"b","occurredAt":"2026-01-01T00:00:00Z","kind":"email"}]}"#;
    let Activity::Meeting(meeting) = read(late) else {
        panic!("it is a meeting")
    };
    let follow_ups = meeting.follow_ups.unwrap();
    assert!(matches!(&*follow_ups, [Activity::Email(mail)] if mail.subject == "b"));
    for other in ["null", "7", r#""call""#, "[]"] {
        assert!(serde_json::from_str::<Activity>(other).is_err(), "{other}");
    }
    let read = serde_json::from_reader::<_, Activity>(r#"{"kind":"fax"}"#.as_bytes());
    assert_eq!(read.unwrap().tag().as_deref(), Some("fax"));
}

#[test]
fn an_object_with_two_tags_is_an_error() {
    for text in [
        r#"{"nodeType":"Department","nodeType":"Subsidiary","name":"a"}"#,
        r#"{"nodeType":"Department","a":{},"n\u006fdeType":"Department","name":"a"}"#,
        r#"{"nodeType":"Branch","nodeType":"Department","name":"a"}"#,
        r#"{"nodeType":7,"nodeType":"Department","name":"a"}"#,
    ] {
        let error = serde_json::from_str::<HierarchyNode>(text).unwrap_err();
        assert_says(&error, &["duplicate field `nodeType`"]);
        assert_says(&error_of(text), &["duplicate field `nodeType`"]);
        assert_says(&error_of(nested(1, text)), &["duplicate field `nodeType`"]);
    }
    // The name of the tag may occur elsewhere.
    let other = nested(1, r#"{"nodeType":"Branch","nodeTypes":1,"b":"\u0061"}"#);
    assert_eq!(
        read::<HierarchyNode>(&other).tag().as_deref(),
        Some("Department")
    );
}

#[test]
fn an_error_explains_why_a_variant_does_not_decode() {
    let wrong = r#"{"name":7,"nodeType":"Department"}"#;
    let texts = [
        wrong,
        r#"{"nodeType":"Department","name":"a","children":7}"#,
        r#"{"nodeType":"Department"}"#,
        "null",
    ];
    let words = [
        "expected a valid variant (a string), found an object of 34 bytes",
        "expected a valid variant (an array), found an object",
        "expected a valid variant (missing field `name`), found an object",
        "expected an object, found null",
    ];
    for (text, words) in texts.into_iter().zip(words) {
        assert_says(&error_of(text), &[words]);
        let error = read::<sdk_core::RawJson>(text).decode::<HierarchyNode>();
        assert_says(&error.unwrap_err(), &[words]);
    }
    let words = "expected a valid variant (a valid variant (a valid variant (a string)))";
    assert_says(&error_of(nested(2, wrong)), &[words]);
}

#[test]
fn deeply_nested_unions_decode_fast_and_without_stack_overflow() {
    let branch = r#"{"nodeType":"Branch"}"#;
    let deep = nested(60, branch);
    let tree: HierarchyNode = read(&deep);
    assert_eq!(serde_json::to_string(&tree).unwrap(), deep);
    for depth in [64, 30_000] {
        let error = error_of(nested(depth, branch));
        assert_says(&error, &["recursion limit exceeded"]);
    }
    // If each level were decoded again after its inner level failed, this would never end.
    let begin = Instant::now();
    error_of(nested(60, r#"{"nodeType":"Department"}"#));
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_known_variant_is_validated_before_it_is_sent_but_an_unknown_variant_is_not() {
    let check = Check::new(&LIST_PEOPLE);
    let calls = [86_400, 86_401].map(|it| ActivityInput::from(ActivityInputLogAcall::new(it)));
    let [most, more] = &calls;
    most.validate(&check).unwrap();
    let unknown: ActivityInput = read(r#"{"kind":"fax","seconds":86401}"#);
    unknown.validate(&check).unwrap();
    let error = more.validate(&check.member("activity")).unwrap_err();
    assert_says(
        &error,
        &["`activity.seconds` must be from 0 to 86400: got 86401"],
    );
    let error = Body::json(&LIST_PEOPLE, &calls[..]).bytes().unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent);
    assert_says(
        &error,
        &["`[1].seconds` must be from 0 to 86400: got 86401"],
    );
    let named = BTreeMap::from([("a".to_owned(), calls.to_vec())]);
    let error = Body::json(&LIST_PEOPLE, &named).bytes().unwrap_err();
    assert_says(&error, &["`a[1].seconds` must be"]);
}
