//! Row 28: a redirect is an answer, and nothing goes where it points.

use sdk_core::{ClientAuthentication, ClientCredentials, Effect, ErrorKind};

use super::fixtures::{PERSON, created, new_event, person};
use crate::peer::{Peer, always, redirect};
use crate::support::{builder_at, calendar_at, crm_at};

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

#[tokio::test]
async fn fault_28_a_redirected_call_goes_nowhere() {
    for status in STATUSES {
        let elsewhere = Peer::start(always(person()));
        let here = Peer::start(always(redirect(status, "/elsewhere")));
        let away = Peer::start(always(redirect(status, elsewhere.url())));
        for peer in [&here, &away] {
            let error = crm_at(peer).people().get(PERSON).await.unwrap_err();

            assert_eq!(error.kind(), ErrorKind::UnexpectedStatus);
            assert_eq!((error.status(), error.attempts()), (Some(status), 1));
            assert!(!error.retryable());
            assert_eq!(peer.requests().len(), 1);
        }
        assert_eq!(elsewhere.connections(), 0);
    }
}

#[tokio::test]
async fn fault_28_a_redirected_command_keeps_its_key_and_its_body_to_itself() {
    for status in STATUSES {
        let elsewhere = Peer::start(always(created()));
        let peer = Peer::start(always(redirect(status, elsewhere.url())));

        let error = calendar_at(&peer)
            .events()
            .command(&new_event("Kick-off"))
            .await
            .unwrap_err();

        assert_eq!(error.kind(), ErrorKind::UnexpectedStatus);
        assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
        assert_eq!(peer.requests().len(), 1);
        assert_eq!(elsewhere.connections(), 0);
    }
}

#[tokio::test]
async fn fault_28_a_redirected_exchange_takes_no_secret_along() {
    for status in STATUSES {
        let elsewhere = Peer::start([]);
        let moved = redirect(status, format!("{}/oauth/token", elsewhere.url()));
        let peer = Peer::start(always(person()).tokens_always(moved));
        let in_body = ClientCredentials::new("client", "secret")
            .with_authentication(ClientAuthentication::RequestBody);
        let suite = builder_at(&peer.url())
            .credentials(in_body)
            .build()
            .unwrap();

        let crm = sdk_crm::Client::new(&suite).unwrap();
        let error = crm.people().get(PERSON).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::TokenUnavailable);
        assert_eq!(
            (error.effect(), error.retryable()),
            (Effect::NotSent, false)
        );
        assert!(error.to_string().contains("a redirect"), "{error}");
        assert_eq!((peer.exchanges().len(), peer.requests().len()), (1, 0));
        assert_eq!(elsewhere.connections(), 0);
    }
}

#[tokio::test]
async fn fault_28_nor_does_a_client_of_the_callers_own_follow_one() {
    let elsewhere = Peer::start(always(person()));
    let peer = Peer::start(always(redirect(307, elsewhere.url())));
    let own = reqwest::Client::builder().redirect(reqwest::redirect::Policy::limited(5));
    let suite = builder_at(&peer.url()).http_client(own).build().unwrap();

    let crm = sdk_crm::Client::new(&suite).unwrap();
    crm.people().get(PERSON).await.unwrap_err();

    assert_eq!(elsewhere.connections(), 0);
}
