//! One command in several JSON notations. The server compares the values, with every digit.

use sdk_reference_server::App;

use crate::peer::{Got, Peer, rows};

const EVENTS: (App, &str) = (App::Calendar, "/calendar/v1/event-commands");
const DRAFTS: (App, &str) = (App::Accounting, "/invoice-drafts");
const COMMANDS: (App, &str) = (App::Crm, "/api/crm/v1/commands");

/// Sends a body in which `@` is replaced by a value.
async fn send(peer: &Peer, to: (App, &str), key: &str, value: &str) -> Got {
    let body = match to {
        EVENTS => {
            r#"{"operation":"create","collectionReference":"C","title":"T","startsAt":"2026-02-02T09:00:00Z",
                "endsAt":"2026-02-02T10:00:00Z","timezone":"UTC","more":@}"#
        }
        DRAFTS => {
            r#"{"schemaVersion":"suite-accounting-invoice-draft-create.v1","counterpartyReference":"FCP",
                "lines":[{}],"taxAmount":{"minorUnits":@}}"#
        }
        _ => r#"{"commandType":"task.create","commandId":"KEY","payload":{"title":"T","more":@}}"#,
    };
    let body = body.replace("FCP", &peer.server.sample_counterparty());
    let body = body.replace("KEY", key).replace('@', value);
    peer.post_text(to.0, to.1, key, body).await
}

#[tokio::test]
async fn fault_47_a_command_in_another_notation_is_the_same_command() {
    let peer = Peer::start().await;
    let deep = |value: &str| format!("{}{value}{}", "[".repeat(100), "]".repeat(100));
    let zeros = "0".repeat(100_000);
    for (number, (one, same, other)) in [
        ("1.0", "1", "1.00000000000000000001"),
        (r#""A""#, r#""\u0041""#, r#""a""#),
        (r#""\ud83e\udd80/""#, r#""🦀\/""#, r#""🦀""#),
        ("0.01E+4", "1.00e02", "1e3"),
        ("-0.0e-5", "0e99999999999999999999", "1e-99"),
        ("-0", "0", "-1"),
        ("1e999999999", "10e999999998", "1e999999998"),
        ("1e-999999999", "0.1E-999999998", "0"),
        (&format!("1{zeros}.{zeros}"), "1e100000", "1e99999"),
        ("9007199254740993", "9007199254740993.0", "9007199254740992"),
        (
            r#"{"a":null,"b":[{"c":null}]}"#,
            r#"{"b":[{}]}"#,
            r#"{"b":[null]}"#,
        ),
        (
            r#"{"a":1,"b":2}"#,
            "{ \"b\": 2.0,\n\"\\u0061\": 1 }",
            r#"{"a":2,"b":1}"#,
        ),
        (r#"{"a":1,"a":[3]}"#, r#"{"a":[3]}"#, r#"{"a":1}"#),
        (
            r#"{"a":"b,c"}"#,
            r#"{"\u0061":"b\u002cc"}"#,
            r#"{"a":"b","c":1}"#,
        ),
        (&deep("1.0"), &deep("1"), &deep("true")),
        ("[1 ,2]", "[1e0,2e0]", "[2,1]"),
    ]
    .into_iter()
    .enumerate()
    {
        for to in [EVENTS, DRAFTS, COMMANDS] {
            let what = format!("{to:?}: {one:.60} and {same:.60}");
            let key = format!("a-key-of-sixteen-{number}");
            let operations = ["submitEventCommand", "createInvoiceDraft", "submitCommand"];
            let commits = || {
                operations
                    .map(|name| peer.server.commits(name))
                    .iter()
                    .sum::<u64>()
            };
            let before = commits();
            let first = send(&peer, to, &key, one).await.expect(201);
            let again = send(&peer, to, &key, same).await;
            assert!(again.status < 300, "{what}: {}", again.text);
            assert!(to == COMMANDS || again.body["replayed"] == true, "{what}");
            for name in ["publicReference", "commandReceiptReference"] {
                assert_eq!(again.body[name], first[name], "{what}");
            }
            let conflict = send(&peer, to, &key, other).await;
            assert_eq!(conflict.status, 409, "{what}, not {other:.60}");
            assert_eq!(commits(), before + 1, "{what}");
        }
    }
}

/// An idempotency key, a number, the status, and whether the result is a replay. The number is the version that an
/// update expects, or the scale of an amount.
const VERSIONS: &str = "
    update-0000000001 | 1.0 | 200 | false
    update-0000000001 | 10e-1 | 200 | true
    update-0000000002 | 2.00000000000000000001 | 400 | null
    update-0000000002 | 2e999999999 | 400 | null
    update-0000000002 | 0.2e1 | 200 | false";
const SCALES: &str = "
    scale-00000000001 | 2.0 | 201 | false
    scale-00000000001 | 2 | 201 | true
    scale-00000000002 | 1e999999999 | 201 | false
    scale-00000000003 | 2.5 | 400 | null
    scale-00000000003 | 1e-999999999 | 400 | null";

#[tokio::test]
async fn fault_47_versions_and_scales_are_compared_by_value() {
    let peer = Peer::start().await;
    let created = send(&peer, EVENTS, "create-0000000001", "1").await;
    let update = format!(
        r#"{{"operation":"update","title":"U","publicReference":{},"expectedRecordVersion":@}}"#,
        created.expect(201)["publicReference"]
    );
    let check = |got: &Got, number: &str, status: &str, replayed: &str| {
        let seen = (got.status.to_string(), got.body["replayed"].to_string());
        assert_eq!(seen, (status.to_owned(), replayed.to_owned()), "{number}");
    };
    for [key, version, status, replayed] in rows(VERSIONS) {
        let body = update.replace('@', version);
        let got = peer.post_text(EVENTS.0, EVENTS.1, key, body).await;
        check(&got, version, status, replayed);
    }
    for [key, scale, status, replayed] in rows(SCALES) {
        // If a field occurs twice, the last value counts.
        let value = format!(r#"1}},"taxAmount":{{"scale":{scale}}},"more":{{"x":1"#);
        let got = send(&peer, DRAFTS, key, &value).await;
        check(&got, scale, status, replayed);
    }
}

#[tokio::test]
async fn unreadable_numbers_strings_and_nesting_are_rejected() {
    let peer = Peer::start().await;
    let nested = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let (deep, deeper) = (nested(129), nested(200_000));
    let odd = r#"1e9999999999999999999 1e-9999999999999999999 "\ud800" 01 1. +1 NaN {"a":"#;
    for to in [EVENTS, DRAFTS, COMMANDS] {
        for value in odd.split(' ').chain([&*deep, &deeper]) {
            let got = send(&peer, to, "a-key-of-sixteen", value).await;
            assert_eq!(got.status, 400, "{to:?}: {value:.60}");
        }
        let most = send(&peer, to, "a-key-of-sixteen", &nested(126)).await;
        most.expect(201);
    }
}
