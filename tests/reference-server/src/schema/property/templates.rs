//! Where a spec leaves a body open, random JSON reaches nothing but rejections. Half of the requests have these instead,
//! whose form is this server's reading (A77, A79, A80 and A83 of specs/ASSUMPTIONS.md).

use fastrand::Rng;
use serde_json::{Value, json};

use super::driver::{Pool, encoded};

/// The generated body, or one that the server understands.
pub(super) fn body(operation: &str, generated: Value, random: &mut Rng, pool: &Pool) -> Value {
    if random.u8(..100) < 40 {
        return generated;
    }
    let mut known = |prefix: &str| json!(pool.pick(prefix, random));
    let templates = match operation {
        "submitCommand" => vec![
            json!({"commandType": "person.create", "payload": {"displayName": "Ada Property", "organizationReference": known("ORG")}}),
            json!({"commandType": "person.update", "subjectReference": known("PER"), "payload": {"jobTitle": "Tester"}}),
            json!({"commandType": "organization.create", "payload": {"displayName": "Property Ltd"}}),
            json!({"commandType": "organization.update", "subjectReference": known("ORG"), "payload": {"status": "inactive"}}),
            json!({"commandType": "opportunity.create", "payload": {"title": "Property", "personReference": known("PER")}}),
            json!({"commandType": "opportunity.move", "subjectReference": known("OP"), "payload": {"stage": "won"}}),
            json!({"commandType": "opportunity.assign", "subjectReference": known("OP"), "payload": {"ownerReference": known("ACR")}}),
            json!({"commandType": "activity.record", "subjectReference": known("PER"), "payload": {"summary": "Called"}}),
            json!({"commandType": "task.create", "commandId": "one", "payload": {"title": "Property"}}),
            json!({"commandType": "task.update", "subjectReference": known("TSK"), "payload": {"status": "waiting"}}),
            json!({"commandType": "task.complete", "subjectReference": known("TSK"), "expectedRecordVersion": 1}),
        ],
        "reviewIntakeSubmission" => vec![
            json!({"submissionReference": known("IN"), "decision": "accept"}),
            json!({"submissionReference": known("IN"), "decision": "dismiss"}),
            json!({"submissionReference": known("IN"), "decision": "request_review", "note": "again"}),
        ],
        "submitEventCommand" => {
            let mut create = generated.clone();
            for (name, value) in [
                ("operation", "create"),
                ("title", "Property"),
                ("timezone", "UTC"),
                ("collectionReference", "a"),
                ("startsAt", "2026-02-01T09:00:00Z"),
                ("endsAt", "2026-02-01T10:00:00Z"),
            ] {
                create[name] = value.into();
            }
            let mut update = generated.clone();
            update["operation"] = "update".into();
            update["publicReference"] = known("EVT");
            let cancel = json!({"operation": "cancel", "publicReference": known("EVT")});
            vec![create.clone(), create, update, cancel]
        }
        "respondAttendance" | "changeRecurrence" => vec![json!({"publicReference": known("EVT")})],
        "manageHold" => vec![
            json!({"operation": "create"}),
            json!({"operation": "release", "publicReference": known("HLD")}),
        ],
        "createApprovalIntent" => vec![json!({"subjectReference": known("IVD")}), json!({})],
        // Only a client that exists gets a token.
        "exchangeToken" => vec![json!({
            "grant_type": "client_credentials",
            "client_id": "reference-client",
            "client_secret": "reference-secret",
        })],
        _ => return generated,
    };
    random.choice(&templates).unwrap().clone()
}

/// A publication that exists, in place of three texts that name none.
pub(super) fn path(operation: &str, path: &mut String, random: &mut Rng, pool: &Pool) {
    if operation != "getPublication" || random.u8(..100) < 40 {
        return;
    }
    let kinds = [
        ("crm", "organization", "ORG"),
        ("crm", "person", "PER"),
        ("calendar", "event", "EVT"),
        ("accounting", "counterparty", "FCP"),
    ];
    let (app, kind, prefix) = *random.choice(&kinds).unwrap();
    let record = pool
        .pick(prefix, random)
        .unwrap_or_else(|| "none".to_owned());
    *path = format!(
        "/platform/v1/publications/{app}/{kind}/{}",
        encoded(&record)
    );
}
