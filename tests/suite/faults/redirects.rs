//! Row 28: a redirect is an answer, and nothing goes where it points.

use sdk_core::{ClientAuthentication, ClientCredentials, Effect, ErrorKind};

use crate::fixtures::{created, get_person, person};
use crate::peer::{Over, Peer, always, over_all, redirect};
use crate::samples::kick_off;
use crate::support::{
    Clients, assert_says, assert_tried, builder_at, builder_to, calendar_at, crm_at,
};

over_all! {
    fault_28_a_redirected_call_goes_nowhere
    fault_28_a_redirected_command_keeps_its_key_and_its_body_to_itself
    fault_28_a_redirected_exchange_takes_no_secret_along
}

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

async fn fault_28_a_redirected_call_goes_nowhere(over: Over) {
    for status in STATUSES {
        let elsewhere = over.start(always(person()));
        let here = over.start(always(redirect(status, "/elsewhere")));
        let away = over.start(always(redirect(status, elsewhere.url())));
        for peer in [&here, &away] {
            let error = get_person(&crm_at(peer)).await.unwrap_err();

            assert_eq!(error.kind(), ErrorKind::UnexpectedStatus);
            assert_eq!((error.status(), error.attempts()), (Some(status), 1));
            assert!(!error.is_retryable());
            assert_eq!(peer.requests().len(), 1);
        }
        assert_eq!(elsewhere.connections(), 0);
    }
}

async fn fault_28_a_redirected_command_keeps_its_key_and_its_body_to_itself(over: Over) {
    for status in STATUSES {
        let elsewhere = over.start(always(created()));
        let peer = over.start(always(redirect(status, elsewhere.url())));

        let error = kick_off(&calendar_at(&peer)).await.unwrap_err();

        assert_tried(&error, ErrorKind::UnexpectedStatus, Effect::Unknown, 1);
        assert_eq!(peer.requests().len(), 1);
        assert_eq!(elsewhere.connections(), 0);
    }
}

async fn fault_28_a_redirected_exchange_takes_no_secret_along(over: Over) {
    for status in STATUSES {
        let elsewhere = over.start([]);
        let moved = redirect(status, format!("{}/oauth/token", elsewhere.url()));
        let peer = over.start(always(person()).tokens_always(moved));
        let in_body = ClientCredentials::new("client", "secret")
            .with_authentication(ClientAuthentication::RequestBody);
        let crm = builder_to(&peer).credentials(in_body).crm();
        let error = get_person(&crm).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::TokenUnavailable);
        assert_eq!(
            (error.effect(), error.is_retryable()),
            (Effect::NotSent, false)
        );
        assert_says(&error, &["a redirect"]);
        assert_eq!((peer.exchanges().len(), peer.requests().len()), (1, 0));
        assert_eq!(elsewhere.connections(), 0);
    }
}

#[tokio::test]
async fn fault_28_nor_does_a_client_of_the_callers_own_follow_one() {
    let elsewhere = Peer::start(always(person()));
    let peer = Peer::start(always(redirect(307, elsewhere.url())));
    let own = reqwest::Client::builder().redirect(reqwest::redirect::Policy::limited(5));
    let crm = builder_at(&peer.url()).http_client(own).crm();
    get_person(&crm).await.unwrap_err();

    assert_eq!(elsewhere.connections(), 0);
}
