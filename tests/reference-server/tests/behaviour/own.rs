//! The test's own records.

use sdk_reference_server::{App, Builder, ReferenceServer};
use serde_json::json;

use crate::peer::{Peer, rows};
use crate::rows::{DRAFTS, KEY, send, shows};

const DATA: &str = r#"{
    "people": [{"publicReference": "PER-00000000000A", "displayName": "Ada Lovelace", "email": "ada@example.com",
        "jobTitle": "Analyst", "organizationReference": "ORG-00000000000A", "status": "active", "createdAt": null},
        {"displayName": "Babbage"}],
    "organizations": [{"publicReference": "ORG-00000000000A", "displayName": "Analytical Engines", "city": "London"}],
    "opportunities": [{"publicReference": "OP-00000000000A", "title": "Difference engine", "stage": "qualified",
        "organizationReference": "ORG-00000000000A", "personReference": "PER-00000000000A", "valueMinMinor": 700,
        "currency": "GBP", "createdAt": "1843-01-01T00:00:00Z"}],
    "tasks": [{"publicReference": "TSK-00000000000A", "title": "Punch the cards", "dueAt": "1843-10-01T00:00:00Z",
        "opportunityReference": "OP-00000000000A"}],
    "intakeSubmissions": [{"publicReference": "IN-00000000000A", "displayName": "Mary Somerville",
        "subject": "Tutoring", "status": "review_needed"}],
    "counterparties": [{"publicReference": "FCP-ANALYTICAL00", "displayName": "Analytical Engines", "currency": "GBP"}]
}"#;

/// A path, a JSON pointer into the response, and the value there.
const SHOWN: &str = r#"
    /people | /items/0/displayName | "Ada Lovelace"
    /people | /items/0/organization/displayName | "Analytical Engines"
    /people?q=babb | /items/0/displayName | "Babbage"
    /people/PER-00000000000A | /email | "ada@example.com"
    /organizations/ORG-00000000000A | /city | "London"
    /opportunities?stage=qualified | /items/0/title | "Difference engine"
    /opportunities/OP-00000000000A | /publicReference | "OP-00000000000A"
    /tasks?owner=all | /items/0/publicReference | "TSK-00000000000A"
    /intake-submissions/IN-00000000000A | /contact/displayName | "Mary Somerville"
    /search?q=love | /items/0/publicReference | "PER-00000000000A"
    /funnel | /stages/3/currency | "GBP"
    /funnel | /stages/3/valueMinMinor | 700"#;

/// A kind, its records, the place of the mistake, and a part of the error.
const REJECTED: &str = r#"
    persons | [] | persons | not accepted here
    people | {} | people | array
    people | [7] | people[0] | object
    people | [{"displayName": "A"}, {}] | people[1] | .displayName: missing
    people | [{ada, "emial": "x"}] | people[0] | .emial: not accepted here
    people | [{ada, "status": "open"}] | people[0] | .status: must be active or
    people | [{ada, "publicReference": "ORG-1"}] | people[0] | .publicReference: must match ^PER-
    people | [{ada, "organizationReference": "ORG-00000000000A"}] | people[0] | no such organization
    people | [{ada, {per}}, {ada, {per}}] | people[1] | PER-00000000000A
    tasks | [{"title": "T", "dueAt": "soon"}] | tasks[0] | dueAt
    opportunities | [{"title": "T", {values}}] | opportunities[0] | valueMinMinor: must not exceed valueMaxMinor (2 > 1)
    counterparties | [{"displayName": 7}] | counterparties[0] | displayName"#;

fn empty() -> Builder {
    let builder = ReferenceServer::builder().people(0).organizations(0);
    builder.opportunities(0).tasks(0).intake_submissions(0)
}

#[tokio::test]
async fn own_records_behave_like_demo_records() {
    let peer = Peer::of(empty().data(DATA).in_memory());
    shows(&peer, App::Crm, SHOWN).await;
    let update = json!({"commandType": "person.update", "subjectReference": "PER-00000000000A",
        "expectedRecordVersion": 1, "payload": {"jobTitle": "Countess"}});
    peer.command(&update).await.expect(201);
    let job = |title| format!("/people/PER-00000000000A | /jobTitle | {title}");
    shows(&peer, App::Crm, &job(r#""Countess""#)).await;
    let draft = json!({"schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": "FCP-ANALYTICAL00", "lines": [{}],
        "taxAmount": {"currency": "GBP", "minorUnits": "0", "scale": 2}});
    send(&peer, DRAFTS, KEY, &draft).await.expect(201);

    let charles = r#"{"people": [{"displayName": "Charles"}]}"#;
    peer.server.load_data(charles).unwrap();
    assert_eq!(peer.walk("/people").await.len(), 3);
    peer.server.reset();
    assert_eq!(peer.walk("/people").await.len(), 2);
    shows(&peer, App::Crm, &job(r#""Analyst""#)).await;
}

#[tokio::test]
async fn own_records_are_added_to_the_demo_data() {
    let peer = Peer::of(ReferenceServer::in_memory());
    let first = peer.server.sample_person();
    let added = peer.server.load_data(DATA).unwrap();
    assert_eq!((added.len(), &*added[0]), (7, "ORG-00000000000A"));
    let people = peer.walk("/people").await;
    let [start, end] = [0, 301].map(|place: usize| people[place]["publicReference"].as_str());
    assert_eq!((start, end), (Some(&*first), Some(&*added[2])));
    assert_eq!(people.len(), 302);
}

#[tokio::test]
async fn a_file_with_a_mistake_is_rejected_and_adds_no_record() {
    let peer = Peer::of(empty().in_memory());
    for [kind, records, place, named] in rows(REJECTED) {
        let records = records
            .replace("ada", r#""displayName": "Ada""#)
            .replace("{per}", r#""publicReference": "PER-00000000000A""#)
            .replace("{values}", r#""valueMinMinor": 2, "valueMaxMinor": 1"#);
        let others = r#""organizations": [{"displayName": "Kept out"}]"#;
        let data = format!(r#"{{{others}, "{kind}": {records}}}"#);
        let later = peer.server.load_data(&data).unwrap_err().to_string();
        let first = empty().data(data).try_start().await.unwrap_err();
        for (error, of) in [(later, ""), (first.to_string(), "the data: ")] {
            let problem = error.strip_prefix(&format!("{of}{place}"));
            assert!(problem.is_some_and(|it| it.contains(named)), "{error}");
        }
    }
    assert!(peer.walk("/organizations").await.is_empty());
}
