//! Accounting.

use sdk_reference_server::App;
use serde_json::{Value, json};

use crate::peer::{Got, Peer};

fn draft(peer: &Peer) -> Value {
    json!({
        "schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": peer.server.sample_counterparty(),
        "billingProfileReference": null,
        "documentDate": "2026-01-31",
        "dueDate": "2026-02-28",
        "taxAmount": {"currency": "EUR", "minorUnits": "2500", "scale": 2},
        "lines": [{"description": "Work"}],
    })
}

fn import() -> Value {
    json!({
        "schemaVersion": "suite-accounting-import-create.v1",
        "adapterId": "ledger-export",
        "adapterContractVersion": "suite-accounting-adapter.v1",
        "adapterImplementationVersion": "2.1.0",
        "sourceApplication": {"name": "Old Books"},
        "mode": "opening_balances",
        "intendedCoverage": {},
    })
}

/// Sends the draft of these tests under a key.
async fn send_draft(peer: &Peer, key: &str) -> Value {
    let got = send(peer, "/invoice-drafts", key, &draft(peer)).await;
    got.expect(201)
}

async fn get(peer: &Peer, path: &str) -> Value {
    peer.get(App::Accounting, path).await.expect(200)
}

async fn send(peer: &Peer, path: &str, key: &str, body: &Value) -> Got {
    peer.post_keyed(App::Accounting, path, key, body).await
}

#[tokio::test]
async fn metadata_is_as_documented() {
    let peer = Peer::start().await;
    let body = get(&peer, "/meta").await;
    assert_eq!(body["schemaVersion"], "suite-accounting-api.v1");
    assert_eq!(body["service"], "suite-accounting");
    assert_eq!(body["version"], "0.1.1");
    assert!(body["status"].is_string() && body["openapiPath"].is_string());
}

#[tokio::test]
async fn a_draft_is_made_once_and_seen_by_its_receipt() {
    let peer = Peer::start().await;
    let first = send_draft(&peer, "draft-000000000001").await;
    assert_eq!(first["schemaVersion"], "suite-accounting-command-result.v1");
    assert_eq!(first["outcome"], "succeeded");
    assert_eq!(first["replayed"], false);
    let again = send_draft(&peer, "draft-000000000001").await;
    assert_eq!(again["replayed"], true);
    assert_eq!(
        again["commandReceiptReference"],
        first["commandReceiptReference"]
    );
    let mut other = draft(&peer);
    other["customerNote"] = json!("Thanks");
    send(&peer, "/invoice-drafts", "draft-000000000001", &other)
        .await
        .expect(409);
    // The key belongs to the actor, not to the operation.
    send(&peer, "/import-runs", "draft-000000000001", &import())
        .await
        .expect(409);
    assert_eq!(peer.server.commits("createInvoiceDraft"), 1);

    let invoices = get(&peer, "/invoices").await;
    assert_eq!(
        invoices["items"][0]["commandReceiptReference"],
        first["commandReceiptReference"]
    );
    let overview = get(&peer, "/overview").await;
    assert_eq!(overview["invoiceDrafts"], 1);
    let receipt = &overview["recentCommands"][0]["commandReceiptReference"];
    assert_eq!(*receipt, first["commandReceiptReference"]);
}

#[tokio::test]
async fn amounts_are_kept_and_compared_to_the_last_digit() {
    let peer = Peer::start().await;
    let amounts = [
        r#"{"minorUnits":123456789012345678901234567890,"scale":2}"#,
        r#"{"minorUnits":123456789012345678901234567891,"scale":2}"#,
        r#"{"minorUnits":"0042","scale":2,"rate":1.10}"#,
    ];
    for (number, amount) in amounts.iter().enumerate() {
        let sending = async |key: String| {
            let mut body = draft(&peer);
            body["taxAmount"] = json!({});
            let amount = format!(r#""taxAmount":{amount}"#);
            let body = body.to_string().replace(r#""taxAmount":{}"#, &amount);
            peer.post_text(App::Accounting, "/invoice-drafts", &key, body)
                .await
        };
        sending(format!("amounts-0000000-{number}"))
            .await
            .expect(201);
        if number > 0 {
            // One digit makes another command.
            sending("amounts-0000000-0".to_owned()).await.expect(409);
        }
    }
    let invoices = peer.get(App::Accounting, "/invoices").await.text;
    for amount in amounts {
        assert!(
            invoices.contains(&format!(r#""taxAmount":{amount}"#)),
            "{amount}: {invoices}"
        );
    }
    // So they are in a reply that a fault rewrites.
    peer.server
        .fault("listInvoices")
        .unknown_enum()
        .unknown_member();
    let invoices = peer.get(App::Accounting, "/invoices").await.text;
    for digits in ["345678901234567890,", "345678901234567891,", "1.10,"] {
        assert!(invoices.contains(digits), "{digits}: {invoices}");
    }
}

#[tokio::test]
async fn a_null_is_taken_where_the_contract_says_or_null_or_nothing() {
    let peer = Peer::start().await;
    let mut body = draft(&peer);
    let members = "billingProfileReference documentDate dueDate customerNote internalNote";
    for member in members.split(' ').chain(["unheardOf"]) {
        body[member] = json!(null);
    }
    body["taxAmount"] = json!({"currency": null, "minorUnits": null});
    body["lines"] = json!([null]);
    let key = "draft-000000000001";
    send(&peer, "/invoice-drafts", key, &body).await.expect(201);
    // Under a key it counts as left out.
    body.as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    let again = send(&peer, "/invoice-drafts", key, &body).await;
    assert_eq!(again.expect(201)["replayed"], true);
    body["taxAmount"]["scale"] = json!(null);
    send(&peer, "/invoice-drafts", key, &body).await.expect(400);
}

#[tokio::test]
async fn an_approval_intent_marks_the_draft_that_it_names() {
    let peer = Peer::start().await;
    let first = send_draft(&peer, "draft-000000000001").await;
    let body = json!({"subjectReference": first["subjectReference"]});
    let intent = peer
        .post(App::Accounting, "/approval-intents", &body)
        .await
        .expect(201);
    assert_eq!(intent["outcome"], "pending");
    let invoices = get(&peer, "/invoices").await;
    let shown = &invoices["items"][0];
    assert_eq!(
        (&shown["status"], &shown["recordVersion"]),
        (&json!("approval_pending"), &json!(2))
    );
    assert_eq!(shown["approvalIntentReference"], intent["subjectReference"]);
    let unknown = json!({"subjectReference": "IVD-0123456789AB"});
    peer.post(App::Accounting, "/approval-intents", &unknown)
        .await
        .expect(404);

    let run = send(&peer, "/import-runs", "import-00000000001", &import())
        .await
        .expect(201);
    let overview = get(&peer, "/overview").await;
    assert_eq!(
        (&overview["importRuns"], &overview["approvalIntents"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        overview["recentCommands"][0]["subjectReference"],
        run["subjectReference"]
    );
}

#[tokio::test]
async fn a_draft_breaks_the_schema_with_400_and_the_rules_with_422() {
    let peer = Peer::start().await;
    let with = |name: &str, value: Value| {
        let mut body = draft(&peer);
        body[name] = value;
        body
    };
    let key = "draft-000000000002";
    for body in [
        json!({}),
        with(
            "schemaVersion",
            json!("suite-accounting-invoice-draft-create.v2"),
        ),
        with("counterpartyReference", json!("FCP-123")),
        with("counterpartyReference", Value::Null),
        with("documentDate", json!("2026-02-30")),
        with("dueDate", json!("2026-02-28T00:00:00Z")),
        with("customerNote", json!(1)),
        with("taxAmount", json!("2500")),
        with("taxAmount", json!({"scale": "2"})),
        with("lines", json!([])),
        with("lines", json!(vec![0; 201])),
        with("lines", json!({})),
    ] {
        let got = send(&peer, "/invoice-drafts", key, &body).await;
        assert_eq!(got.status, 400, "{body}");
    }
    for body in [
        with("counterpartyReference", json!("FCP-ZZZZZZZZZZZZ")),
        with(
            "counterpartyReference",
            json!(peer.server.archived_counterparty()),
        ),
        with("dueDate", json!("2026-01-30")),
    ] {
        let got = send(&peer, "/invoice-drafts", key, &body).await;
        assert_eq!(got.status, 422, "{body}");
    }
    peer.post(App::Accounting, "/invoice-drafts", &draft(&peer))
        .await
        .expect(400);
    // What was refused left its key free.
    send(
        &peer,
        "/invoice-drafts",
        key,
        &with("lines", json!(vec![json!({}); 200])),
    )
    .await
    .expect(201);
}

#[tokio::test]
async fn an_import_run_is_pending() {
    let peer = Peer::start().await;
    let result = send(&peer, "/import-runs", "import-00000000001", &import())
        .await
        .expect(201);
    assert_eq!(result["outcome"], "pending");
    assert_eq!(
        send(&peer, "/import-runs", "import-00000000001", &import())
            .await
            .expect(201)["replayed"],
        true
    );
    for name in [
        "schemaVersion",
        "adapterId",
        "adapterContractVersion",
        "adapterImplementationVersion",
        "sourceApplication",
        "mode",
        "intendedCoverage",
    ] {
        for bad in [Value::Null, json!(7), json!("odd")] {
            if bad == "odd" && matches!(name, "adapterId" | "adapterImplementationVersion") {
                continue;
            }
            let mut body = import();
            body[name] = bad;
            let got = send(&peer, "/import-runs", "import-00000000002", &body).await;
            assert_eq!(got.status, 400, "{body}");
        }
    }
}

#[tokio::test]
async fn counterparties_are_listed_and_added() {
    let peer = Peer::start().await;
    let listed = get(&peer, "/counterparties").await;
    assert_eq!(
        listed["items"][0]["publicReference"],
        peer.server.sample_counterparty().as_str()
    );
    let added = peer
        .post(
            App::Accounting,
            "/counterparties",
            &json!({"displayName": "Acme"}),
        )
        .await
        .expect(201);
    let listed = get(&peer, "/counterparties").await;
    assert_eq!(
        listed["items"].as_array().unwrap().last().unwrap()["publicReference"],
        added["subjectReference"]
    );
    let mut body = draft(&peer);
    body["counterpartyReference"] = added["subjectReference"].clone();
    send(&peer, "/invoice-drafts", "draft-000000000003", &body)
        .await
        .expect(201);
}

#[tokio::test]
async fn the_name_only_operations_answer() {
    let peer = Peer::start().await;
    for path in ["/ready", "/actor", "/overview", "/invoices"] {
        peer.get(App::Accounting, path).await.expect(200);
    }
    let pending = peer
        .post(App::Accounting, "/approval-intents", &json!(["anything"]))
        .await
        .expect(201);
    assert_eq!(pending["outcome"], "pending");
}
