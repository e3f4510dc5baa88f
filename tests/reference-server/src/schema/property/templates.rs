//! Known bodies for operations whose body the spec leaves open. Random JSON would only be rejected, so about half of
//! the requests use these templates. Their form is this server's reading (A77, A79, A80 and A83 of
//! specs/ASSUMPTIONS.md).

use fastrand::Rng;

use super::driver::Pool;

/// An operation ID, and a body or path that the server understands. `{ORG}` is replaced by a reference of that kind.
const KNOWN: &str = r#"
    submitCommand | {"commandType": "person.create", "payload": {"displayName": "Ada", "organizationReference": "{ORG}"}}
    submitCommand | {"commandType": "person.update", "subjectReference": "{PER}", "payload": {"jobTitle": "Tester"}}
    submitCommand | {"commandType": "organization.create", "payload": {"displayName": "Property Ltd"}}
    submitCommand | {"commandType": "organization.update", "subjectReference": "{ORG}", "payload": {"status": "inactive"}}
    submitCommand | {"commandType": "opportunity.create", "payload": {"title": "Property", "personReference": "{PER}"}}
    submitCommand | {"commandType": "opportunity.move", "subjectReference": "{OP}", "payload": {"stage": "won"}}
    submitCommand | {"commandType": "opportunity.assign", "subjectReference": "{OP}", "payload": {"ownerReference": "{ACR}"}}
    submitCommand | {"commandType": "activity.record", "subjectReference": "{PER}", "payload": {"summary": "Called"}}
    submitCommand | {"commandType": "task.create", "commandId": "one", "payload": {"title": "Property"}}
    submitCommand | {"commandType": "task.update", "subjectReference": "{TSK}", "payload": {"status": "waiting"}}
    submitCommand | {"commandType": "task.complete", "subjectReference": "{TSK}", "expectedRecordVersion": 1}
    reviewIntakeSubmission | {"submissionReference": "{IN}", "decision": "accept"}
    reviewIntakeSubmission | {"submissionReference": "{IN}", "decision": "dismiss"}
    reviewIntakeSubmission | {"submissionReference": "{IN}", "decision": "request_review", "note": "again"}
    submitEventCommand | {"operation": "create", "title": "T", "timezone": "UTC", "collectionReference": "a", "startsAt": "2026-02-01T09:00:00Z", "endsAt": "2026-02-01T10:00:00Z"}
    submitEventCommand | {"operation": "update", "publicReference": "{EVT}", "title": "Property"}
    submitEventCommand | {"operation": "cancel", "publicReference": "{EVT}"}
    respondAttendance | {"publicReference": "{EVT}"}
    changeRecurrence | {"publicReference": "{EVT}"}
    manageHold | {"operation": "create"}
    manageHold | {"operation": "release", "publicReference": "{HLD}"}
    createApprovalIntent | {"subjectReference": "{IVD}"}
    createApprovalIntent | {}
    exchangeToken | {"grant_type": "client_credentials", "client_id": "reference-client", "client_secret": "reference-secret"}
    getPublication | /platform/v1/publications/crm/organization/{ORG}
    getPublication | /platform/v1/publications/crm/person/{PER}
    getPublication | /platform/v1/publications/calendar/event/{EVT}
    getPublication | /platform/v1/publications/accounting/counterparty/{FCP}
"#;

/// Returns a template for most requests of the operation.
pub(super) fn known(operation: &str, random: &mut Rng, pool: &Pool) -> Option<String> {
    let rows = KNOWN.lines().filter_map(|row| row.trim().split_once(" | "));
    let rows = rows.filter(|(id, _)| *id == operation);
    let rows: Vec<&str> = rows.map(|(_, template)| template).collect();
    let mut known = (*random.choice(&rows)?).to_owned();
    if random.u8(..100) < 40 {
        return None;
    }
    for prefix in [
        "ACR", "EVT", "FCP", "HLD", "IN", "IVD", "OP", "ORG", "PER", "TSK",
    ] {
        let reference = pool.pick(prefix, random);
        let reference = reference.unwrap_or_else(|| format!("{prefix}-0123456789AB"));
        known = known.replace(&format!("{{{prefix}}}"), &reference);
    }
    Some(known)
}
