//! Records that a test brings along.

use sdk_reference_server::{App, Builder, ReferenceServer, Transport};
use serde_json::{Value, json};

use crate::peer::Peer;

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

fn empty() -> Builder {
    let builder = ReferenceServer::builder().transport(Transport::Hyper);
    let builder = builder.people(0).organizations(0).opportunities(0).tasks(0);
    builder.intake_submissions(0)
}

#[tokio::test]
async fn they_are_records_like_the_others() {
    let peer = Peer::of(empty().data(DATA).start().await);
    for (path, place, value) in [
        ("/people", "/items/0/displayName", "Ada Lovelace"),
        (
            "/people",
            "/items/0/organization/displayName",
            "Analytical Engines",
        ),
        ("/people?q=babb", "/items/0/displayName", "Babbage"),
        ("/people/PER-00000000000A", "/email", "ada@example.com"),
        ("/organizations/ORG-00000000000A", "/city", "London"),
        (
            "/opportunities?stage=qualified",
            "/items/0/title",
            "Difference engine",
        ),
        (
            "/opportunities/OP-00000000000A",
            "/publicReference",
            "OP-00000000000A",
        ),
        (
            "/tasks?owner=all",
            "/items/0/publicReference",
            "TSK-00000000000A",
        ),
        (
            "/intake-submissions/IN-00000000000A",
            "/contact/displayName",
            "Mary Somerville",
        ),
        (
            "/search?q=love",
            "/items/0/publicReference",
            "PER-00000000000A",
        ),
        ("/funnel", "/stages/3/currency", "GBP"),
    ] {
        let body = peer.crm(path).await.expect(200);
        assert_eq!(body.pointer(place), Some(&json!(value)), "{path}: {body}");
    }
    assert_eq!(peer.walk("/people").await.len(), 2);
    let funnel = peer.crm("/funnel").await.expect(200);
    assert_eq!(funnel["stages"][3]["valueMinMinor"], 700);

    let (person, version) = (json!("PER-00000000000A"), json!(1));
    let update = json!({"commandType": "person.update", "subjectReference": person, "expectedRecordVersion": version,
        "payload": {"jobTitle": "Countess"}});
    assert_eq!(
        peer.command(&update).await.expect(201)["publicReference"],
        person
    );
    assert_eq!(
        peer.crm("/people/PER-00000000000A").await.expect(200)["jobTitle"],
        "Countess"
    );
    let draft = json!({"schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": "FCP-ANALYTICAL00", "lines": [{}],
        "taxAmount": {"currency": "GBP", "minorUnits": "0", "scale": 2}});
    let drafted = peer.post_keyed(
        App::Accounting,
        "/invoice-drafts",
        "a-key-of-sixteen",
        &draft,
    );
    drafted.await.expect(201);

    peer.server
        .load_data(r#"{"people": [{"displayName": "Charles"}]}"#)
        .unwrap();
    assert_eq!(peer.walk("/people").await.len(), 3);
    peer.server.reset();
    assert_eq!(peer.walk("/people").await.len(), 2);
    assert_eq!(
        peer.crm("/people/PER-00000000000A").await.expect(200)["jobTitle"],
        "Analyst"
    );
}

#[tokio::test]
async fn they_stand_beside_the_demo_data() {
    let peer = Peer::start().await;
    let first = peer.server.sample_person();
    let added = peer.server.load_data(DATA).unwrap();
    assert_eq!((added.len(), &*added[0]), (7, "ORG-00000000000A"));
    let people = peer.walk("/people").await;
    assert_eq!(
        (people.len(), &people[0]["publicReference"]),
        (302, &json!(first))
    );
    assert_eq!(people[301]["publicReference"], added[2]);
}

#[tokio::test]
async fn a_mistake_is_named_and_no_record_is_taken() {
    let peer = Peer::of(empty().start().await);
    let twice = r#"[{"publicReference": "PER-00000000000A", "displayName": "A"}, {"publicReference": "PER-00000000000A", "displayName": "B"}]"#;
    for (kind, records, problem) in [
        (
            "persons",
            "[]",
            "persons: must be one of organizations, people, ",
        ),
        ("people", "{}", "people: must be an array"),
        ("people", "[7]", "people[0]: the body must be an object"),
        (
            "people",
            r#"[{"displayName": "A"}, {}]"#,
            "people[1]: displayName: missing",
        ),
        (
            "people",
            r#"[{"displayName": "A", "emial": "x"}]"#,
            "people[0]: emial: unknown member, not one of displayName email ",
        ),
        (
            "people",
            r#"[{"displayName": "A", "status": "open"}]"#,
            "people[0]: status: must be one of active, inactive",
        ),
        (
            "people",
            r#"[{"displayName": "A", "publicReference": "ORG-1"}]"#,
            "people[0]: publicReference: must be a reference like PER-",
        ),
        (
            "people",
            r#"[{"displayName": "A", "organizationReference": "ORG-00000000000A"}]"#,
            "people[0]: organizationReference: there is no organization ORG-00000000000A",
        ),
        (
            "people",
            twice,
            "people[1]: publicReference: there is a record of that name",
        ),
        (
            "tasks",
            r#"[{"title": "T", "dueAt": "soon"}]"#,
            "tasks[0]: dueAt: must be an RFC 3339 date-time",
        ),
        (
            "opportunities",
            r#"[{"title": "T", "valueMinMinor": 2, "valueMaxMinor": 1}]"#,
            "opportunities[0]: valueMaxMinor: must not be under",
        ),
        (
            "counterparties",
            r#"[{"displayName": 7}]"#,
            "counterparties[0]: displayName: must be a string",
        ),
    ] {
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
    let left: Vec<Value> = peer.walk("/organizations").await;
    assert!(left.is_empty(), "{left:?}");
}
