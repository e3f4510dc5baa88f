//! Row 70: a proxy before the token endpoint that wants a credential.

use std::error::Error as _;

use sdk_core::{Effect, Error, ErrorKind};
use sdk_core::{TokenError, TokenErrorKind};

use crate::fixtures::add_person;
use crate::peer::{Peer, always, raw, reply, script};
use crate::seams::transport::front::through;
use crate::support::{Clients, Events, assert_says, assert_tried, builder_at};

fn assert_stopped(error: &Error) {
    assert_tried(error, ErrorKind::TokenUnavailable, Effect::NotSent, 0);
    assert!(!error.is_retryable(), "{error}");
    let cause: &TokenError = error.source().unwrap().downcast_ref().unwrap();
    assert_eq!(cause.kind(), TokenErrorKind::Unreachable);
    assert!(!cause.is_retryable());
}

#[tokio::test]
async fn fault_70_a_407_to_a_token_request_names_the_proxy_and_is_not_repeated() {
    let (events, _guard) = Events::here();
    let html = "<html>invalid_client</html>";
    let wants = reply(407).header("proxy-authenticate", "Basic").body(html);
    let peer = Peer::start(script([]).tokens_always(wants));
    let crm = builder_at(&peer.url()).crm();

    for _ in 0..2 {
        let error = add_person(&crm).await.unwrap_err();

        assert_stopped(&error);
        let said = "token endpoint unreachable (status 407): a proxy in between wants a credential";
        assert_says(&error, &[said]);
        let line = error.to_string();
        let odd = line.contains("refused") || line.contains("secret");
        assert!(!odd, "{line}");
        assert!(error.command().is_some(), "it can be sent later");
    }
    // The second call is answered from what the first one got.
    assert_eq!(peer.exchanges().len(), 1);
    assert!(peer.requests().is_empty());
    assert!(events.text().contains("token renewal failed"));
}

#[tokio::test]
async fn fault_70_a_407_of_a_plain_proxy_before_the_token_endpoint_stops_the_call() {
    let proxy = Peer::start(always(reply(407)));
    let builder = || {
        builder_at("http://crm.suite.test")
            .token_url("http://login.suite.test/sign-in")
            .allow_insecure_http()
    };
    for suite in through(&proxy.url(), builder) {
        let error = add_person(&suite.crm()).await.unwrap_err();

        assert_stopped(&error);
        assert_says(&error, &["proxy"]);
    }
    let seen = proxy.requests();
    assert_eq!(seen.len(), 2);
    for seen in seen {
        assert_eq!(seen.target, "http://login.suite.test/sign-in");
    }
}

#[tokio::test]
async fn fault_70_a_tunnel_to_the_token_endpoint_that_is_refused_names_the_proxy() {
    let answer = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
    let proxy = Peer::start(always(raw(answer)));
    let builder =
        || builder_at("https://crm.suite.test").token_url("https://login.suite.test/sign-in");
    for (number, suite) in through(&proxy.url(), builder).into_iter().enumerate() {
        let error = add_person(&suite.crm()).await.unwrap_err();

        assert_tried(&error, ErrorKind::TokenUnavailable, Effect::NotSent, 0);
        assert_says(&error, &["login.suite.test:443", "proxy"]);
        assert!(proxy.requests().len() > number);
    }
    for seen in proxy.requests() {
        let asked = (&*seen.method, &*seen.target);
        assert_eq!(asked, ("CONNECT", "login.suite.test:443"));
    }
}
