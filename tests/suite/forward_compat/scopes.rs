//! Missing scopes of a token, and the least scopes for operations.

use sdk_core::{App, ErrorKind, ScopePolicy, least_scopes};
use sdk_crm::operations;
use sdk_reference_server::Operation;

use crate::fixtures::in_memory;
use crate::support::{Clients, assert_unsent};

#[tokio::test]
async fn the_least_scopes_of_operations_allow_exactly_these_operations() {
    let (server, suite) = in_memory();
    let needed = [
        &operations::LIST_PEOPLE,
        &operations::GET_PERSON,
        &operations::GET_TODAY,
    ];
    let scopes = least_scopes(&needed);
    assert_eq!(scopes, ["crm:people:read", "crm:today:read"]);

    // A call whose token is known to lack a scope can be rejected before it is sent.
    let suite = suite.scope_policy(ScopePolicy::Refuse).suite();
    let crm = suite.with_scopes(App::Crm, scopes).unwrap().crm();

    crm.people().list().await.unwrap();
    crm.today().get().await.unwrap();
    let error = crm.tasks().list().await.unwrap_err();
    let words = ["crm:tasks:read", "crm:people:read"];
    assert_unsent(&error, ErrorKind::Forbidden, &words);
    assert_eq!(server.attempts(Operation::ListTasks), 0);
    assert_eq!(server.exchanges(), 1);
}

#[test]
fn least_scopes_reuse_a_scope_for_operations_with_alternatives() {
    let open = &operations::SUBMIT_COMMAND;
    assert!(open.scopes.len() > 1);
    assert_eq!(least_scopes(&[open]).len(), 1);
    assert_eq!(least_scopes(&[open, &operations::GET_HEALTH]).len(), 1);
}

#[tokio::test]
async fn missing_scopes_lists_the_scopes_that_were_not_granted() {
    let (_server, suite) = in_memory();
    let scopes = ["crm:people:read", "crm:people:write"];
    let all = suite.suite();
    let crm = all.with_scopes(App::Crm, scopes).unwrap().crm();

    let missing = crm
        .missing_scopes(&[
            &operations::LIST_PEOPLE,
            &operations::SUBMIT_COMMAND,
            &operations::LIST_TASKS,
            &operations::GET_HEALTH,
        ])
        .await
        .unwrap();

    let ids = missing.operations.iter().map(|operation| operation.id);
    let ids: Vec<_> = ids.collect();
    assert_eq!(ids, ["listTasks"], "any one of several scopes is enough");
    let granted = "granted: crm:people:read, crm:people:write\n  - listTasks needs crm:tasks:read";
    assert!(missing.to_string().starts_with(granted), "{missing}");
    assert!(!missing.is_empty());
    let missing = all.crm().missing_scopes(&[&operations::LIST_TASKS]).await;
    let missing = missing.unwrap();
    assert!(missing.is_empty());
    let none = "no scope is known to be missing";
    assert_eq!(missing.to_string(), none);
    let foreign = [&sdk_calendar::operations::SUBMIT_EVENT_COMMAND];
    let error = all.crm().missing_scopes(&foreign).await.unwrap_err();
    let words = ["`operation` must belong to crm: got calendar.submitEventCommand"];
    assert_unsent(&error, ErrorKind::InvalidInput, &words);
    // The contract documents no scope for this operation.
    let hold = &sdk_calendar::operations::MANAGE_HOLD;
    assert!(least_scopes(&[hold]).is_empty());
    let missing = all.calendar().missing_scopes(&[hold]).await.unwrap();
    assert!(missing.is_empty());
    let unknown = "\n  - manageHold needs a scope that the contract does not document";
    assert_eq!(missing.to_string(), format!("{none}{unknown}"));
}
