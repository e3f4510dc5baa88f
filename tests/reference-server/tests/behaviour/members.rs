//! The payload fields of record commands: each is applied, or the command is rejected (A77).

use serde_json::json;

use crate::peer::{Peer, rows};
use crate::rows::{COMMANDS, KEY, record_command, rejects, send};

/// A command type, a payload, and its field that only another command uses.
const OF_OTHERS: &str = r#"
    opportunity.update | {"title": "T", "ownerReference": "ACR-000000000000"} | ownerReference
    opportunity.move | {"stage": "won", "currency": "NOK"} | currency
    opportunity.assign | {"ownerReference": null, "stage": "won"} | stage
    opportunity.create | {"title": "T", "reasonCode": "late"} | reasonCode
    task.update | {"ownerReference": "ACR-000000000000"} | ownerReference
    task.complete | {"status": "open"} | status
    activity.record | {"summary": "Tea", "title": "Tea"} | title"#;

const WITH_CREATE: &str = r#"
    {"subjectReference": "{opportunity}"} | 400 | validation_failed | subjectReference
    {"expectedRecordVersion": 1} | 400 | validation_failed | expectedRecordVersion"#;

#[tokio::test]
async fn a_field_of_another_command_is_rejected() {
    let peer = Peer::start().await;
    for [kind, payload, named] in rows(OF_OTHERS) {
        let command = record_command(&peer, kind, payload);
        let row = format!("{command} | 400 | validation_failed | {named}");
        rejects(&peer, COMMANDS, &json!({}), &row).await;
    }
    let new = record_command(&peer, "opportunity.create", r#"{"title": "T"}"#);
    rejects(&peer, COMMANDS, &new, WITH_CREATE).await;

    // A field that no command uses may have any value. A null field counts as absent.
    let payload = r#"{"title": "T", "fromTheFuture": 1, "city": null}"#;
    let new = record_command(&peer, "task.create", payload);
    send(&peer, COMMANDS, KEY, &new).await.expect(201);
}

#[tokio::test]
async fn the_minimum_value_must_not_exceed_the_maximum() {
    let peer = Peer::start().await;
    for (number, (least, most, values)) in [
        (Some(50), Some(100), Some([50, 100])),
        (Some(100), None, Some([100, 100])),
        (None, Some(100), Some([0, 100])),
        (None, Some(-5), Some([-5, -5])),
        (Some(-5), None, Some([-5, 0])),
        (Some(100), Some(50), None),
    ]
    .into_iter()
    .enumerate()
    {
        let payload = json!({"title": "T", "valueMinMinor": least, "valueMaxMinor": most});
        let mut command = record_command(&peer, "opportunity.create", &payload.to_string());
        command["commandId"] = number.to_string().into();
        let got = send(&peer, COMMANDS, KEY, &command).await;
        let Some(values) = values else {
            assert_eq!(got.status, 400, "{payload}");
            continue;
        };
        let opportunity = got.expect(201)["publicReference"].clone();
        let path = format!("/opportunities/{}", opportunity.as_str().unwrap());
        let row = peer.crm(&path).await.expect(200);
        let seen = json!([row["valueMinMinor"], row["valueMaxMinor"]]);
        assert_eq!(seen, json!(values), "{payload}");

        // The other value doesn't change.
        let update = json!({"commandType": "opportunity.update", "subjectReference": opportunity,
            "payload": {"valueMinMinor": values[1] + 1}});
        let row = "{} | 400 | validation_failed | valueMinMinor";
        rejects(&peer, COMMANDS, &update, row).await;
    }
}
