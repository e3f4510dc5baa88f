//! What becomes of each member of a record command: it is applied, or the command is refused.

use serde_json::{Value, json};

use crate::peer::{Got, Peer};

async fn command(peer: &Peer, kind: &str, subject: Option<&Value>, payload: Value) -> Got {
    let mut body = json!({"commandType": kind, "payload": payload});
    if let Some(subject) = subject {
        body["subjectReference"] = subject.clone();
    }
    peer.command(&body).await
}

/// Creates a record and gives its reference.
async fn create(peer: &Peer, kind: &str, payload: Value) -> Value {
    let result = command(peer, kind, None, payload).await.expect(201);
    result["publicReference"].clone()
}

#[tokio::test]
async fn an_update_applies_what_it_is_given() {
    let peer = Peer::start().await;
    let read = async |list: &str, reference: &Value| {
        let path = format!("/{list}/{}", reference.as_str().unwrap());
        peer.crm(&path).await.expect(200)
    };
    let organization = create(&peer, "organization.create", json!({"displayName": "Acme"})).await;
    let person = create(&peer, "person.create", json!({"displayName": "Ann Lee"})).await;
    let opportunity = create(&peer, "opportunity.create", json!({"title": "Deal"})).await;
    let payload = json!({"currency": "NOK", "valueMinMinor": 50, "valueMaxMinor": 100,
        "organizationReference": organization, "personReference": person});
    let updated = command(&peer, "opportunity.update", Some(&opportunity), payload).await;
    updated.expect(201);
    let row = read("opportunities", &opportunity).await;
    assert_eq!(row["currency"], "NOK");
    assert_eq!(
        (&row["valueMinMinor"], &row["valueMaxMinor"]),
        (&json!(50), &json!(100))
    );
    assert_eq!(row["organization"]["publicReference"], organization);
    assert_eq!(row["personReference"], person);

    // Half of a name leaves the other half.
    for (payload, name) in [
        (json!({"familyName": "Poe"}), "Ann Poe"),
        (json!({"givenName": "Bea"}), "Bea Poe"),
        (json!({"displayName": "Cy Rowe"}), "Cy Rowe"),
    ] {
        let updated = command(&peer, "person.update", Some(&person), payload).await;
        updated.expect(201);
        assert_eq!(read("people", &person).await["displayName"], name);
    }

    let task = json!({"title": "Call", "status": "waiting"});
    let task = create(&peer, "task.create", task).await;
    let payload = json!({"opportunityReference": opportunity});
    let updated = command(&peer, "task.update", Some(&task), payload).await;
    updated.expect(201);
    let tasks = peer.crm("/tasks?q=Call&status=waiting").await.expect(200);
    let row = tasks["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(row["publicReference"], task);
    assert_eq!(row["opportunityReference"], opportunity);
}

#[tokio::test]
async fn what_another_command_does_is_refused_by_name() {
    let peer = Peer::start().await;
    let server = &peer.server;
    let [opportunity, task, person] = [
        server.sample_opportunity(),
        server.sample_task(),
        server.sample_person(),
    ]
    .map(|reference| Some(json!(reference.as_str())));
    let commits = server.commits("submitCommand");
    for (kind, subject, payload, named) in [
        (
            "opportunity.update",
            &opportunity,
            json!({"stage": "won"}),
            "stage",
        ),
        (
            "opportunity.update",
            &opportunity,
            json!({"title": "T", "ownerReference": "ACR-000000000000"}),
            "ownerReference",
        ),
        (
            "opportunity.move",
            &opportunity,
            json!({"stage": "won", "currency": "NOK"}),
            "currency",
        ),
        (
            "opportunity.assign",
            &opportunity,
            json!({"ownerReference": null, "stage": "won"}),
            "stage",
        ),
        (
            "opportunity.create",
            &None,
            json!({"title": "T", "reasonCode": "late"}),
            "reasonCode",
        ),
        (
            "opportunity.create",
            &opportunity,
            json!({"title": "T"}),
            "subjectReference",
        ),
        (
            "task.update",
            &task,
            json!({"ownerReference": "ACR-000000000000"}),
            "ownerReference",
        ),
        ("task.complete", &task, json!({"status": "open"}), "status"),
        ("person.update", &person, json!({"city": "Oslo"}), "city"),
        (
            "person.update",
            &person,
            json!({"displayName": "A B", "familyName": "B"}),
            "displayName",
        ),
        (
            "activity.record",
            &person,
            json!({"summary": "Tea", "title": "Tea"}),
            "title",
        ),
    ] {
        let got = command(&peer, kind, subject.as_ref(), payload).await;
        assert_eq!(got.status, 400, "{kind} {named}");
        assert!(got.text.contains(&format!("{named}: ")), "{}", got.text);
    }
    let new = json!({"commandType": "task.create", "expectedRecordVersion": 1, "payload": {"title": "T"}});
    let got = peer.command(&new).await;
    assert!(got.status == 400 && got.text.contains("expectedRecordVersion: "));
    assert_eq!(server.commits("submitCommand"), commits);

    // What no command takes may be anything, and null is nothing.
    let payload = json!({"title": "T", "fromTheFuture": 1, "city": null});
    create(&peer, "task.create", payload).await;
}

#[tokio::test]
async fn the_least_value_is_not_over_the_most() {
    let peer = Peer::start().await;
    for (least, most, values) in [
        (Some(50), Some(100), Some([50, 100])),
        (Some(100), None, Some([100, 100])),
        (None, Some(100), Some([0, 100])),
        (None, Some(-5), Some([-5, -5])),
        (Some(-5), None, Some([-5, 0])),
        (Some(100), Some(50), None),
    ] {
        let payload = json!({"title": "T", "valueMinMinor": least, "valueMaxMinor": most,
            "fromTheFuture": format!("{least:?} {most:?}")});
        let got = command(&peer, "opportunity.create", None, payload).await;
        let Some(values) = values else {
            assert_eq!(got.status, 400);
            continue;
        };
        let opportunity = got.expect(201)["publicReference"].clone();
        let path = format!("/opportunities/{}", opportunity.as_str().unwrap());
        let row = peer.crm(&path).await.expect(200);
        assert_eq!(
            json!([row["valueMinMinor"], row["valueMaxMinor"]]),
            json!(values)
        );

        // The other one is what it was.
        let payload = json!({"valueMinMinor": values[1] + 1});
        let got = command(&peer, "opportunity.update", Some(&opportunity), payload).await;
        assert_eq!(got.status, 400);
        assert!(got.text.contains("valueMinMinor: "), "{}", got.text);
    }
}
