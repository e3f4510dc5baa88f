//! Rows 6, 7, 8 and 12: what a 401 and a 403 do, and which token goes where.

use futures_util::future::{join_all, ready};
use sdk_core::{AccessToken, App, Effect, ErrorKind, TokenRequest};
use sdk_reference_server::{ClientSpec, Operation, ReferenceServer, Transport};

use crate::fixtures::{Tokens, created, get_person, person, server};
use crate::peer::{Peer, always, reply, script};
use crate::samples::event;
use crate::seams::transport::service::Scripted;
use crate::support::{Clients, HoldClock, assert_says, assert_tried, builder_at, crm_at, crm_for};

#[tokio::test(start_paused = true)]
async fn fault_06_a_thousand_calls_with_a_revoked_token_share_one_renewal() {
    // However long a busy machine takes for so many connections, nothing times out.
    let _clock = HoldClock::new();
    let server = server().await;
    let crm = crm_for(&server);
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
async fn fault_06_a_second_401_is_an_error() {
    let server = server().await;
    let crm = crm_for(&server);
    server.fault(Operation::GetPerson).revoke_token();

    let error = crm.people().get(server.sample_person()).await.unwrap_err();

    assert_tried(&error, ErrorKind::Unauthenticated, Effect::Refused, 2);
    assert_eq!(error.status(), Some(401));
    assert!(error.request_id().is_some());
    assert_eq!(server.exchanges(), 2);
    assert_eq!(server.attempts(Operation::GetPerson), 2);
}

#[tokio::test]
async fn fault_07_a_late_401_leaves_the_newer_token_alone() {
    let peer = Peer::start(script([reply(401).held(), reply(401)]).then_always(person()));
    let crm = crm_at(&peer);

    // The first call is still waiting for its 401 when the second has had one, and a new token.
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
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .client(reader)
        .start()
        .await;
    let crm = crm_for(&server);

    let error = crm.people().list().await.unwrap_err();

    assert!(error.is_forbidden());
    assert_tried(&error, ErrorKind::Forbidden, Effect::Refused, 1);
    assert_eq!(error.status(), Some(403));
    assert!(!error.is_retryable());
    let line = error.to_string();
    assert_says(&line, &["requires the scope crm:people:read"]);
    assert_says(&line, &["was granted crm:today:read, crm:tasks:read"]);
    assert!(line.ends_with(&format!("(request {})", error.request_id().unwrap())));
    assert_eq!(server.exchanges(), 1);
    assert_eq!(server.attempts(Operation::ListPeople), 1);
}

#[tokio::test]
async fn fault_12_each_application_gets_the_token_of_its_own_audience() {
    let crm_peer = Peer::start(always(person()));
    let calendar_peer = Peer::start(always(created()));
    let suite = builder_at(&crm_peer.url())
        .application_url(App::Calendar, calendar_peer.url())
        .audience(App::Crm, "aud-crm")
        .audience(App::Calendar, "aud-calendar")
        .build()
        .unwrap();
    let crm = suite.crm();
    let calendar = suite.calendar();
    let event = event("Kick-off");

    let calls = async |_| {
        let (person, event) = tokio::join!(
            get_person(&crm).send(),
            calendar.events().command(&event).send()
        );
        person.unwrap();
        event.unwrap();
    };
    join_all((0..20).map(calls)).await;

    let exchanges = crm_peer.exchanges();
    assert_eq!(exchanges.len(), 2);
    for (peer, audience) in [(&crm_peer, "aud-crm"), (&calendar_peer, "aud-calendar")] {
        let asked = format!("grant_type=client_credentials&audience={audience}");
        let number = exchanges.iter().position(|seen| seen.text() == asked);
        let token = format!("t-{}", number.unwrap() + 1);
        assert_eq!(peer.requests().len(), 20);
        for seen in peer.requests() {
            assert_eq!(seen.bearer(), Some(&*token));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fault_12_each_set_of_scopes_gets_a_token_of_its_own() {
    let source = Tokens(|request: &TokenRequest| {
        let audience = request.audience().unwrap_or("none");
        let token = format!("{audience}/{}", request.scopes().join("+"));
        ready(Ok(AccessToken::new(token)))
    });
    let service = Scripted::always(person());
    let suite = service.suite().audience(App::Crm, "crm");
    let suite = suite.token_source(source).build().unwrap();
    get_person(&suite.crm()).await.unwrap();
    // In another order, or repeated, the scopes are the same.
    for scopes in [&["b", "a"][..], &["a", "b", "a"], &["a"]] {
        let suite = suite.with_scopes(App::Crm, scopes).unwrap();
        get_person(&suite.crm()).await.unwrap();
    }

    let seen = service.seen();
    let bearers: Vec<_> = seen
        .iter()
        .map(|seen| seen.headers["authorization"].to_str().unwrap())
        .collect();
    let tokens = ["crm/", "crm/a+b", "crm/a+b", "crm/a"];
    assert_eq!(bearers, tokens.map(|token| format!("Bearer {token}")));
    assert_eq!(suite.stats().token_exchanges, 3);
}
