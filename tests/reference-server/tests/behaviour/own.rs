//! Records that a test brings along.

use sdk_reference_server::{App, Builder, ReferenceServer, Transport};
use serde_json::json;

use crate::peer::{Peer, rows};

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

/// A path, a place in the reply, and what is there.
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

/// A kind, records of it, and what is wrong with them.
const REFUSED: &str = r#"
    persons | [] | persons: must be one of organizations, people,
    people | {} | people: must be an array
    people | [7] | people[0]: the body must be an object
    people | [{"displayName": "A"}, {}] | people[1]: displayName: missing
    people | [{"displayName": "A", "emial": "x"}] | people[0]: emial: unknown member, not one of displayName email
    people | [{"displayName": "A", "status": "open"}] | people[0]: status: must be one of active, inactive
    people | [{"displayName": "A", "publicReference": "ORG-1"}] | people[0]: publicReference: must be a reference like PER-
    people | [{"displayName": "A", "organizationReference": "ORG-00000000000A"}] | people[0]: organizationReference: there is no
    people | [{ada, "publicReference": "PER-00000000000A"}, {ada, "publicReference": "PER-00000000000A"}] | people[1]: publicReference: there is
    tasks | [{"title": "T", "dueAt": "soon"}] | tasks[0]: dueAt: must be an RFC 3339 date-time
    opportunities | [{"title": "T", "valueMinMinor": 2, "valueMaxMinor": 1}] | opportunities[0]: valueMaxMinor: must not be under
    counterparties | [{"displayName": 7}] | counterparties[0]: displayName: must be a string"#;

fn empty() -> Builder {
    let builder = ReferenceServer::builder().transport(Transport::Hyper);
    let builder = builder.people(0).organizations(0).opportunities(0);
    builder.tasks(0).intake_submissions(0)
}

#[tokio::test]
async fn they_are_records_like_the_others() {
    let peer = Peer::of(empty().data(DATA).start().await);
    for [path, place, value] in rows(SHOWN) {
        let body = peer.crm(path).await.expect(200);
        let shown = body.pointer(place).map(ToString::to_string);
        assert_eq!(shown.as_deref(), Some(value), "{path}: {body}");
    }
    let update = json!({"commandType": "person.update", "subjectReference": "PER-00000000000A",
        "expectedRecordVersion": 1, "payload": {"jobTitle": "Countess"}});
    peer.command(&update).await.expect(201);
    let ada = "/people/PER-00000000000A";
    let job = async || peer.crm(ada).await.expect(200)["jobTitle"].clone();
    assert_eq!(job().await, "Countess");
    let draft = json!({"schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": "FCP-ANALYTICAL00", "lines": [{}],
        "taxAmount": {"currency": "GBP", "minorUnits": "0", "scale": 2}});
    let key = "a-key-of-sixteen";
    let got = peer.post_keyed(App::Accounting, "/invoice-drafts", key, &draft);
    got.await.expect(201);

    let charles = r#"{"people": [{"displayName": "Charles"}]}"#;
    peer.server.load_data(charles).unwrap();
    assert_eq!(peer.walk("/people").await.len(), 3);
    peer.server.reset();
    assert_eq!(peer.walk("/people").await.len(), 2);
    assert_eq!(job().await, "Analyst");
}

#[tokio::test]
async fn they_stand_beside_the_demo_data() {
    let peer = Peer::start().await;
    let first = peer.server.sample_person();
    let added = peer.server.load_data(DATA).unwrap();
    assert_eq!((added.len(), &*added[0]), (7, "ORG-00000000000A"));
    let people = peer.walk("/people").await;
    let place = |reference: &str| {
        people
            .iter()
            .position(|one| one["publicReference"] == reference)
    };
    assert_eq!(
        (people.len(), place(&first), place(&added[2])),
        (302, Some(0), Some(301))
    );
}

#[tokio::test]
async fn a_mistake_is_named_and_no_record_is_taken() {
    let peer = Peer::of(empty().start().await);
    for [kind, records, problem] in rows(REFUSED) {
        let records = records.replace("ada", r#""displayName": "Ada""#);
        let data =
            format!(r#"{{"organizations": [{{"displayName": "Kept out"}}], "{kind}": {records}}}"#);
        let error = peer.server.load_data(&data).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}");
        let error = empty()
            .data(data)
            .try_start()
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("the data: {problem}")),
            "{error}"
        );
    }
    assert!(peer.walk("/organizations").await.is_empty());
}
