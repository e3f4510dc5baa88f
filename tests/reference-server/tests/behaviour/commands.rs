//! CRM record commands (A77, A78) and intake reviews (A79).

use std::collections::HashMap;

use sdk_reference_server::App;
use serde_json::json;

use crate::peer::{Peer, rows};
use crate::rows::{COMMANDS, KEY, REVIEWS, record_command, rejects, send, shows};

/// Changes to an empty command. `payloads.rs` covers all other broken rules.
const REJECTED: &str = r#"
    [] | 400 | validation_failed |
    {"commandType": 7} | 400 | validation_failed | commandType
    {"commandType": "task.complete"} | 400 | validation_failed | subjectReference
    {complete "TSK-0123456789AB"} | 404 | not_found |
    {complete "{task}", "expectedRecordVersion": 9} | 409 | stale_record_version |
    {create {"displayName": ""}} | 400 | validation_failed | displayName
    {create {"displayName": "A B", "status": "odd"}} | 400 | validation_failed | status
    {create {"displayName": "A B", "organizationReference": "ORG-0123456789AB"}} | 404 | not_found |
    {"commandType": "task.create", "payload": {"title": "T", "dueAt": "tomorrow"}} | 400 | validation_failed | dueAt"#;

/// A command type, its payload, and where its effect is visible: a path or the record's detail, a JSON pointer, and
/// the value there.
const APPLIED: &str = r#"
    organization.create | {"displayName": "Quux Ltd"} | /search?q=quux+ltd | /items/0/title | "Quux Ltd"
    organization.update | {"displayName": "Acme", "city": "Oslo"} | detail | /city | "Oslo"
    person.create | {"displayName": "Ulla Quux"} | /search?q=ulla+quux | /items/0/type | "person"
    person.update | {"jobTitle": "Poet"} | detail | /jobTitle | "Poet"
    person.update | {"displayName": "Xanthe Lee"} | /search?q=xanthe | /items/0/publicReference | "{person}"
    person.update | {"familyName": "Quill"} | /people?q=xanthe+q | /items/0/displayName | "Xanthe Quill"
    person.update | {"givenName": "Bea"} | detail | /displayName | "Bea Quill"
    person.update | {"email": "x@example.org"} | /people?q=x@example.org | /items/0/displayName | "Bea Quill"
    activity.record | {"summary": "Had tea"} | /today | /recentChanges/0/action | "activity.record"
    opportunity.create | {"title": "Quux", "stage": "exploring"} | /opportunities?q=quux | /items/0/stage | "exploring"
    opportunity.update | {"title": "Bigger deal"} | detail | /title | "Bigger deal"
    opportunity.update | {"currency": "SEK"} | detail | /currency | "SEK"
    opportunity.update | {"organizationReference": "{organization}"} | detail | /organization/displayName | "Acme"
    opportunity.update | {"personReference": "{person}"} | detail | /personReference | "{person}"
    opportunity.update | {"valueMinMinor": 50, "valueMaxMinor": 100} | detail | /valueMaxMinor | 100
    opportunity.assign | {"ownerReference": null} | detail | /owner | null
    opportunity.move | {"stage": "won"} | detail | /stage | "won"
    task.create | {"title": "Ask Ulla"} | /tasks?q=ask+ulla&owner=all | /items/0/status | "open"
    task.update | {"title": "Call Ulla"} | /tasks?q=call+ulla&owner=all | /items/0/publicReference | "{task}"
    task.assign | {"ownerReference": "{actor}"} | /tasks?q=call+ulla | /items/0/publicReference | "{task}"
    task.update | {"status": "waiting"} | /tasks?q=call+ulla | /items/0/status | "waiting"
    task.update | {"opportunityReference": "{opportunity}"} | /tasks?q=call+ulla | /items/0/title | "Call Ulla"
    task.complete | {} | /tasks?q=call+ulla | /items/0/opportunityReference | "{opportunity}"
    person.update | {"status": "archived"} | detail | /status | "archived""#;

/// Commands that change a closed record.
const CLOSED: &str = r#"
    opportunity.move | {"stage": "exploring"}
    opportunity.update | {"title": "Reopened"}
    task.update | {"status": "open"}
    person.update | {"status": "active"}"#;

#[tokio::test]
async fn commands_are_rejected_and_nothing_changes() {
    let peer = Peer::start().await;
    let complete = r#""commandType": "task.complete", "subjectReference":"#;
    let create = r#""commandType": "person.create", "payload":"#;
    let table = REJECTED.replace("{complete", &format!("{{{complete}"));
    let table = table.replace("{create", &format!("{{{create}"));
    rejects(&peer, COMMANDS, &json!({}), &table).await;
}

#[tokio::test]
async fn applied_commands_are_visible_to_all_reads() {
    let peer = Peer::start().await;
    let closed = rows(CLOSED).into_iter();
    // Closing these records changes which records are the samples.
    let closed = closed.map(|[kind, payload]| record_command(&peer, kind, payload));
    let closed: Vec<_> = closed.collect();
    let mut versions = HashMap::new();
    for [kind, payload, path, shown] in rows(APPLIED) {
        let command = record_command(&peer, kind, payload);
        let result = send(&peer, COMMANDS, KEY, &command).await.expect(201);
        let reference = result["publicReference"].as_str().unwrap().to_owned();
        let list = match kind.split('.').next().unwrap() {
            "person" => "people".to_owned(),
            noun => format!("{noun}s").replace("ys", "ies"),
        };
        let path = path.replace("detail", &format!("/{list}/{reference}"));
        shows(&peer, App::Crm, &format!("{path} | {shown}")).await;
        if let Some(version) = result["recordVersion"].as_u64() {
            let before = versions.insert(reference, version);
            assert!(before.is_none_or(|before| version == before + 1), "{kind}");
        }
    }
    let timeline = format!("/people/{}/timeline?limit=200", peer.server.sample_person());
    let timeline = peer.walk(&timeline).await;
    assert_eq!(timeline.last().unwrap()["summary"], "Had tea");
    for command in closed {
        let row = format!("{command} | 409 | invalid_state |");
        rejects(&peer, COMMANDS, &json!({}), &row).await;
    }
}

#[tokio::test]
async fn a_reused_command_id_conflicts_only_for_the_same_actor() {
    let mut peer = Peer::start().await;
    let body = |title: &str| json!({"commandType": "task.create", "commandId": "c-1", "payload": {"title": title}});
    let first = send(&peer, COMMANDS, KEY, &body("One")).await.expect(201);
    let again = send(&peer, COMMANDS, KEY, &body("One")).await.expect(200);
    assert_eq!(first, again);
    let row = "{} | 409 | idempotency_conflict |";
    rejects(&peer, COMMANDS, &body("Two"), row).await;
    peer.becomes("other", |client| client);
    send(&peer, COMMANDS, KEY, &body("Two")).await.expect(201);
}

/// Changes to a review of the submission, which has version 1.
const NO_REVIEWS: &str = r#"
    {"submissionReference": null} | 400 | validation_failed | submissionReference
    {"submissionReference": "IN-0123456789AB"} | 404 | not_found |
    {"decision": "maybe"} | 400 | validation_failed | decision
    {"expectedRecordVersion": 9} | 409 | stale_record_version |"#;

#[tokio::test]
async fn a_review_decides_a_submission() {
    let peer = Peer::start().await;
    let reference = peer.server.sample_intake_submission();
    let review = |decision: &str| json!({"submissionReference": reference, "decision": decision, "note": "fine"});
    rejects(&peer, REVIEWS, &review("accept"), NO_REVIEWS).await;
    for (decision, status) in [
        ("request_review", 201),
        ("request_review", 200),
        ("accept", 201),
    ] {
        let got = send(&peer, REVIEWS, KEY, &review(decision)).await;
        got.expect(status);
    }
    let row = "{} | 409 | invalid_state |";
    rejects(&peer, REVIEWS, &review("dismiss"), row).await;

    // The submission became an organization, a person in it and an opportunity.
    let path = format!("/intake-submissions/{reference}");
    let detail = peer.crm(&path).await.expect(200);
    let linked = &detail["linkedRecords"];
    let name = &detail["contact"]["displayName"];
    let [person, organization, opportunity] = ["person", "organization", "opportunity"]
        .map(|kind| linked[kind]["publicReference"].as_str().unwrap());
    let shown = format!(
        r#"
        {path} | /status | "accepted"
        {path} | /recordVersion | 3
        {path} | /review/decision | "accept"
        {path} | /reviewHistory/1/decision | "accept"
        {path} | /reviewHistory/2 |
        /people/{person} | /displayName | {name}
        /people/{person} | /organization/publicReference | "{organization}"
        /opportunities/{opportunity} | /personReference | "{person}"
        /today | /recentChanges/0/publicReference | "{reference}""#
    );
    shows(&peer, App::Crm, &shown).await;
}

#[tokio::test]
async fn the_review_history_has_the_last_100_reviews() {
    let peer = Peer::start().await;
    let reference = peer.server.sample_intake_submission();
    let mut review = json!({"submissionReference": reference, "decision": "request_review"});
    for number in 0..103 {
        review["note"] = number.to_string().into();
        send(&peer, REVIEWS, KEY, &review).await.expect(201);
    }
    let detail = peer.crm(&format!("/intake-submissions/{reference}")).await;
    let history = detail.expect(200)["reviewHistory"].take();
    let notes = |place: usize| history[place]["note"].as_str();
    let seen = [notes(0), notes(99), notes(100)];
    assert_eq!(seen, [Some("3"), Some("102"), None]);
}
