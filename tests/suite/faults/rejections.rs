//! Rows 6, 7, 8 and 12: results of a 401 or a 403, and each call's token.

use futures_util::future::join_all;
use sdk_core::{App, Effect, ErrorKind};
use sdk_reference_server::{ClientSpec, Operation, ReferenceServer};

use crate::fixtures::{get_person, in_memory, person, reaching};
use crate::peer::{Peer, always, reply, script};
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, assert_tried, crm_at, run_script};

#[tokio::test(start_paused = true)]
async fn fault_06_a_thousand_calls_with_a_revoked_token_share_one_renewal() {
    let (server, builder) = in_memory();
    let crm = builder.crm();
    let person = server.sample_person();
    crm.people().get(&*person).await.unwrap();
    server.revoke_tokens();

    let calls = join_all((0..1_000).map(|_| crm.people().get(&*person).send())).await;

    for call in calls {
        assert_eq!(call.unwrap().attempts(), 2);
    }
    assert_eq!(server.exchanges(), 2);
    assert_eq!(server.attempts(Operation::GetPerson), 1 + 2_000);
}

#[tokio::test]
async fn fault_07_a_late_401_keeps_the_newer_token() {
    let peer = Peer::start(script([reply(401).held(), reply(401)]).then_always(person()));
    let crm = crm_at(&peer);

    // The first call still waits for its 401 when the second call has already got a 401 and a new token.
    let late = tokio::spawn(get_person(&crm).send());
    peer.saw(1).await;
    get_person(&crm).await.unwrap();
    peer.release(1);
    late.await.unwrap().unwrap();
    get_person(&crm).await.unwrap();

    let seen = peer.requests();
    let bearers: Vec<_> = seen.iter().map(|seen| seen.bearer().unwrap()).collect();
    assert_eq!(bearers, ["t-1", "t-1", "t-2", "t-2", "t-2"]);
    assert_eq!(peer.exchanges().len(), 2);
}

#[tokio::test]
async fn fault_08_a_403_is_final_and_names_required_and_granted_scopes() {
    let reader = ClientSpec::new("reader", "s3cret").scopes(["crm:today:read", "crm:tasks:read"]);
    let server = ReferenceServer::builder().client(reader).in_memory();
    let crm = reaching(&server).crm();

    let error = crm.people().list().await.unwrap_err();

    assert!(error.is_forbidden() && !error.is_retryable());
    assert_tried(&error, ErrorKind::Forbidden, Effect::Refused, 1);
    assert_eq!(error.status(), Some(403));
    let line = error.to_string();
    assert_says(&line, &["requires the scope crm:people:read"]);
    assert_says(&line, &["was granted crm:today:read, crm:tasks:read"]);
    assert!(line.ends_with(&format!("(request {})", error.request_id().unwrap())));
    assert_eq!(server.exchanges(), 1);
    assert_eq!(server.attempts(Operation::ListPeople), 1);
}

#[tokio::test(start_paused = true)]
async fn fault_12_each_audience_and_set_of_scopes_has_its_own_token() {
    const PEOPLE: &str = "crm:people:read";
    const TASKS: &str = "crm:tasks:read";
    let (server, builder) = in_memory();
    let suite = builder.suite();
    let (crm, calendar) = (suite.crm(), suite.calendar());
    let calls = join_all((0..20).map(async |_| {
        let (person, event) = tokio::join!(crm.people().list().send(), kick_off(&calendar).send());
        // The server rejects the token of another audience with a 401, which would cost an attempt.
        (person.unwrap().attempts(), event.unwrap().attempts())
    }));
    assert_eq!(calls.await, [(1, 1); 20]);
    assert_eq!(server.exchanges(), 2);

    for (scopes, exchanges) in [
        (&[PEOPLE, TASKS][..], 3),
        // The order and repetition of scopes doesn't matter.
        (&[TASKS, PEOPLE, TASKS], 3),
        (&[TASKS], 4),
    ] {
        let narrowed = suite.with_scopes(App::Crm, scopes).unwrap();
        let listed = narrowed.crm().people().list().await;
        assert_eq!(listed.is_ok(), scopes.contains(&PEOPLE), "{scopes:?}");
        assert_eq!(server.exchanges(), exchanges, "{scopes:?}");
    }
}

#[tokio::test]
async fn a_call_without_a_token_requests_none_even_after_a_401() {
    for status in [200, 401, 403] {
        let run = run_script(always(reply(status)), async |suite| {
            let probe = suite.accounting().service().ready();
            probe.without_token().await
        })
        .await;
        assert_eq!((run.attempts(), run.exchanges), (1, 0), "{status}");
        assert_eq!(run.requests[0].header("authorization"), None);
        assert_eq!(run.result.is_ok(), status == 200);
        if status == 403 {
            let line = run.error().to_string();
            assert_says(&line, &["without a token"]);
            assert!(!line.contains("requires") && !line.contains("granted"));
        }
    }
}
