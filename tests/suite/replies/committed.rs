//! Rows 57 and 59: the successes that are reported as committed or as a replay.

use sdk_accounting::types::ImportMode;
use sdk_core::{Method, Receipt, SchemaPolicy, Suite};
use serde_json::{Value, json};

use crate::fixtures::{PERSON, add_person, created};
use crate::peer::{Over, Step, json as reply_of, over_all, reply};
use crate::samples::{import, kick_off};
use crate::support::{Clients, Events, run_script, run_script_over};

over_all! { fault_57_a_2xx_without_a_body_is_a_success_if_no_body_is_documented }

/// Whether a command is known to be committed, and whether it is known to be a replay.
type Facts = (Option<bool>, Option<bool>);

fn facts<T>(receipt: &Receipt<T>) -> Facts {
    (receipt.is_committed(), receipt.is_replay())
}

async fn fault_57_a_2xx_without_a_body_is_a_success_if_no_body_is_documented(over: Over) {
    for (status, expected) in [
        (200, (Some(true), Some(true))),
        (201, (Some(true), Some(false))),
        // Only a documented status means a commit.
        (202, (None, None)),
        (204, (None, None)),
    ] {
        let script = [reply(status), reply(status), reply(status), reply(status)];
        let run = run_script_over(over, script, async |suite| {
            let (crm, calendar) = (suite.crm(), suite.calendar());
            let health = crm.service().health().await?;
            assert!(health.is_null() && health.bytes().is_empty());
            let receipt = add_person(&crm).await?;
            assert_eq!((receipt.http_status(), receipt.attempts()), (status, 1));
            assert_eq!(facts(&receipt), expected, "{status}");
            let hold = calendar.holds().manage(json!({})).await?;
            assert_eq!(facts(&hold), (None, None));
            crm.raw_call((Method::Post, "/api/crm/v1/notes")).await
        });
        let run = run.await;
        assert!(
            run.result.is_ok() && run.attempts() == 4,
            "nothing is resent"
        );
    }
}

/// A command whose response may state its outcome.
#[derive(Clone, Copy, Debug)]
enum Command {
    Person,
    Event,
    Note,
    Import,
    /// A stored command, without the type of its result.
    StoredImport,
}

impl Command {
    async fn facts(self, suite: &Suite) -> Result<Facts, sdk_core::Error> {
        let body = import("adapter", ImportMode::EvidenceOnly);
        let accounting = suite.accounting();
        let import = || accounting.import_runs().create(&body);
        match self {
            Self::Person => add_person(&suite.crm()).await.map(|it| facts(&it)),
            Self::Event => {
                let call = kick_off(&suite.calendar()).schema_policy(SchemaPolicy::Warn);
                call.await.map(|it| facts(&it))
            }
            Self::Note => {
                let calendar = suite.calendar();
                let call = calendar.raw_call((Method::Post, "/api/calendar/v1/notes"));
                call.await.map(|it| facts(&it))
            }
            Self::Import => import().await.map(|it| facts(&it)),
            Self::StoredImport => {
                let command = import().prepare()?;
                accounting
                    .send_prepared(&command)
                    .await
                    .map(|it| facts(&it))
            }
        }
    }
}

fn imported(status: u16, outcome: &Value) -> Step {
    let mut result = json!({
        "schemaVersion": "suite-accounting-command-result.v1",
        "operation": "import_run.create",
        "outcome": outcome,
        "commandReceiptReference": "RCT-1",
        "subjectReference": "IMP-1",
        "recordVersion": 1,
        "replayed": false,
    });
    if outcome.is_null() {
        result.as_object_mut().unwrap().remove("outcome");
    }
    reply_of(status, &result)
}

#[tokio::test]
async fn fault_59_a_result_without_succeeded_is_not_reported_as_committed() {
    use Command::{Event, Import, Note, Person, StoredImport};
    let (events, _guard) = Events::here();
    let (yes, no) = (Some(true), Some(false));
    let failed = String::from_utf8(created().text().to_vec()).unwrap();
    let failed = created().body(failed.replace("succeeded", "failed"));
    // The contract documents no result for the CRM, so only the status counts.
    let pending = |status| {
        let result = json!({"outcome": "pending", "publicReference": PERSON});
        reply_of(status, &result)
    };
    let outcome = |status, outcome: &str| imported(status, &json!(outcome));
    for (command, step, expected) in [
        (Person, pending(201), (yes, no)),
        (Person, pending(200), (yes, yes)),
        (Person, pending(202), (None, None)),
        (Event, created(), (yes, no)),
        (Event, created().with_status(202), (None, no)),
        (Event, failed.clone(), (None, no)),
        (Note, failed, (None, None)),
        (Import, outcome(201, "succeeded"), (yes, no)),
        (Import, outcome(201, "pending"), (None, no)),
        (Import, outcome(201, "failed"), (None, no)),
        (Import, outcome(201, "Succeeded"), (None, no)),
        (Import, outcome(202, "succeeded"), (None, no)),
        (StoredImport, outcome(201, "succeeded"), (yes, no)),
        (StoredImport, outcome(201, "pending"), (None, no)),
        (StoredImport, imported(201, &json!(true)), (None, no)),
        (StoredImport, imported(201, &Value::Null), (None, no)),
    ] {
        let about = format!("{command:?} with {step:?}");
        let run = run_script([step], async |suite| command.facts(suite).await).await;
        assert_eq!(run.result.unwrap(), expected, "{about}");
        assert_eq!(run.requests.len(), 1, "{about}");
    }
    let words = ["a constant has an unexpected value", "outcome", "failed"];
    assert_eq!(events.lines("WARN", &words).len(), 1, "{}", events.text());
}
