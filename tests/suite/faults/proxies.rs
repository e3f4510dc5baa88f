//! Rows 40 and 70: proxies in front of an application or the token endpoint, with and without a credential.

use std::error::Error as _;
use std::process::Command;

use sdk_core::{Effect, ErrorKind, RetryPolicy, SuiteBuilder, TokenError, TokenErrorKind};

use crate::fixtures::{Given, add_person, get_person, person};
use crate::peer::{self, Peer, Reserved, Seen, always, raw, reply};
use crate::programs::{messages, output, program};
use crate::support::{Clients, assert_says, assert_tried, assert_unsent, builder_at};

/// Returns one suite for each HTTP client, for an application behind a proxy that requires a credential. Tokens come
/// from an endpoint behind the proxy or from a token source.
fn through(proxy: &Peer, scheme: &str, has_endpoint: bool) -> [SuiteBuilder; 2] {
    let proxy = proxy.url().replace("//", "//ann:hunter2@");
    peer::through(&proxy, || at(scheme, has_endpoint))
}

/// Returns a suite of an application, with a token endpoint or a token source.
fn at(scheme: &str, has_endpoint: bool) -> SuiteBuilder {
    let builder = builder_at(&format!("{scheme}://crm.suite.test"));
    let builder = builder.retry(RetryPolicy::none()).allow_insecure_http();
    if has_endpoint {
        return builder.token_url(format!("{scheme}://login.suite.test/sign-in"));
    }
    builder.token_source(Given)
}

/// Checks that requests reached a proxy with the credential.
fn assert_authorized(seen: &[Seen], method: &str, target: &str) {
    for seen in seen {
        let credential = seen.header("proxy-authorization");
        assert_eq!(credential, Some("Basic YW5uOmh1bnRlcjI="));
        assert_eq!(seen.method, method);
        assert!(seen.target.starts_with(target), "{}", seen.target);
    }
}

#[tokio::test]
async fn fault_70_an_http_proxy_gets_the_credential_for_both_servers() {
    let proxy = Peer::start(always(person()));
    for suite in through(&proxy, "http", false) {
        get_person(&suite.crm()).await.unwrap();
    }
    let seen = proxy.requests();
    assert_eq!(seen.len(), 2);
    assert_authorized(&seen, "GET", "http://crm.suite.test/api/crm/v1/people/");
    for seen in seen {
        assert_eq!(seen.bearer(), Some("t-1"));
        assert_eq!(seen.header("host"), Some("crm.suite.test"));
    }

    let html = "<html>invalid_client</html>";
    let requires = reply(407).header("proxy-authenticate", "Basic").body(html);
    // If the transport knows that the proxy answered, the command was not sent.
    let proxy = Peer::start(always(requires.clone()));
    let effects = [Effect::Refused, Effect::NotSent];
    for (suite, effect) in through(&proxy, "http", false).into_iter().zip(effects) {
        let error = add_person(&suite.crm()).await.unwrap_err();
        assert_eq!((error.status(), error.effect()), (Some(407), effect));
    }
    let proxy = Peer::start(always(requires));
    // Only the hyper transport knows the proxy it used.
    let names = [
        "an intermediate proxy",
        &format!("the proxy {}", proxy.url()),
    ];
    for (suite, name) in through(&proxy, "http", true).into_iter().zip(names) {
        let (crm, status) = (suite.crm(), "token endpoint unreachable (status 407)");
        let phrase = format!("{status}: {name} requires a credential");
        // The second call gets the cached error of the first call.
        for _ in 0..2 {
            let error = add_person(&crm).await.unwrap_err();
            assert_unsent(&error, ErrorKind::TokenUnavailable, &[&phrase]);
            assert!(!error.is_retryable() && error.command().is_some());
            let line = error.to_string();
            assert!(
                !line.contains("refused") && !line.contains("secret"),
                "{line}"
            );
            let cause: &TokenError = error.source().unwrap().downcast_ref().unwrap();
            assert_eq!(cause.kind(), TokenErrorKind::Unreachable);
            assert!(!cause.is_retryable());
        }
    }
    let seen = proxy.requests();
    assert_eq!(seen.len(), 2);
    assert_authorized(&seen, "POST", "http://login.suite.test/sign-in");
}

#[tokio::test]
async fn fault_70_a_tunnel_gets_the_credential_and_a_rejected_tunnel_is_not_sent() {
    for (answer, begun) in [
        ("200 OK", true),
        ("407 Proxy Authentication Required", false),
        ("403 No", false),
    ] {
        let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
        for (host, kind, attempts) in [
            ("crm.suite.test", ErrorKind::Connect, 1),
            ("login.suite.test", ErrorKind::TokenUnavailable, 0),
        ] {
            let proxy = Peer::start(always(raw(&*answer)));
            for suite in through(&proxy, "https", attempts == 0) {
                let error = add_person(&suite.crm()).await.unwrap_err();

                // After the tunnel is open, the TLS handshake begins. This peer closes the connection instead.
                assert_tried(&error, kind, Effect::NotSent, attempts);
                let line = error.to_string();
                assert_says(&line, &[&format!("{host}:443")]);
                let named = line.contains("tunnel") || line.contains("proxy");
                assert!(begun || named, "{line}");
                assert!(!line.contains("hunter2"), "{line}");
            }
            assert!(proxy.requests().len() >= 2);
            assert_authorized(&proxy.requests(), "CONNECT", &format!("{host}:443"));
        }
    }
}

#[tokio::test]
async fn fault_70_an_unreachable_proxy_is_named_wherever_it_was_configured() {
    let down = Reserved::new();
    let address = down.url().replace("http://", "");
    for scheme in ["http", "https"] {
        for has_endpoint in [false, true] {
            let host = if has_endpoint { "login" } else { "crm" };
            let builder = || at(scheme, has_endpoint);
            let [own, hyper] = peer::through(&down.url(), builder);
            let proxy = reqwest::Proxy::all(down.url()).unwrap();
            let client = reqwest::Client::builder().tls_certs_only([]).proxy(proxy);
            let existing = builder().http_client(client.build().unwrap());
            let hidden = format!(" or a proxy of the HTTP client (tried {address}): ");
            let known = format!(" through the proxy {}: ", down.url());
            for (suite, named) in [(own, &hidden), (existing, &hidden), (hyper, &known)] {
                let error = add_person(&suite.crm()).await.unwrap_err();
                let (kind, attempts) = if has_endpoint {
                    (ErrorKind::TokenUnavailable, 0)
                } else {
                    (ErrorKind::Connect, 1)
                };
                assert_tried(&error, kind, Effect::NotSent, attempts);
                assert!(error.is_retryable());
                let target = format!("{host}.suite.test:");
                assert_says(&error, &[&target, named, "refused"]);
            }
        }
    }
}

/// Returns the command of an example with this proxy in its environment.
fn tour(proxy: &Peer, credential: &str, variables: &[&str]) -> Command {
    let mut tour = Command::new(program("tour"));
    let url = proxy.url().replace("//", &format!("//{credential}"));
    tour.envs(variables.iter().map(|name| (name, &url)))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy");
    tour
}

#[test]
fn fault_70_an_environment_proxy_that_rejects_is_named() {
    let refusal = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
    let proxy = Peer::start(always(raw(refusal)));
    let mut tour = tour(&proxy, "ann:hunter2@", &["HTTPS_PROXY"]);
    tour.env("SUITE_CLIENT_ID", "client")
        .env("SUITE_CLIENT_SECRET", "secret");
    for name in ["CORE", "CRM", "CALENDAR", "ACCOUNTING"] {
        let url = format!("https://{}.suite.test", name.to_lowercase());
        tour.env(format!("SUITE_{name}_URL"), url);
    }

    let output = output(&mut tour);

    assert!(!output.status.success());
    let printed = messages(&output);
    let phrase = format!("core.suite.test:443 through the proxy {}", proxy.url());
    assert_says(&printed, &[&phrase]);
    assert!(!printed.contains("hunter2"), "{printed}");
}

#[test]
fn fault_40_requests_to_loopback_bypass_environment_proxies() {
    let proxy = Peer::start(always(reply(502)));
    let names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

    let output = output(&mut tour(&proxy, "", &names));

    assert!(output.status.success(), "{}", messages(&output));
    assert_eq!(proxy.connections(), 0);
}
