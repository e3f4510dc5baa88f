//! Rows 39, 40, 45, 48, 54, 70 and 75: connections that go silent, that never stand, that go through proxies, or that belong
//! to another runtime.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use sdk_core::{App, Effect, Error, ErrorKind, RetryPolicy, SuiteBuilder};
use sdk_transport_hyper::HyperTransport;

use tokio::runtime::{Builder, Runtime};

use crate::fixtures::{Given, add_person, at_once, committed, get_person, person};
use crate::peer::proxy::{Proxy, Then, Way};
use crate::peer::{Client, Over, Peer, Protocol, Seen, always, over_all, raw, reply, script};
use crate::programs::{output, program, told};
use crate::seams::transport::front;
use crate::support::{
    Clients, Events, HoldClock, assert_says, assert_tried, builder_at, builder_to, crm_at, until,
};

#[tokio::test]
async fn fault_39_an_http2_connection_that_goes_silent_is_left_for_another() {
    for over in Over::HTTP2 {
        let peer = over.start(always(person()));
        let wire = Proxy::start(&peer.url());
        let ping = Duration::from_millis(100);
        let suite = match over.client {
            Client::Reqwest => builder_to(&peer).http2_pings(ping, 10 * ping),
            Client::Hyper => {
                let hyper = HyperTransport::builder().proxies(None);
                let hyper = hyper.http2_prior_knowledge().http2_pings(ping, 10 * ping);
                builder_at(&peer.url()).transport(hyper.build())
            }
        };
        let crm = suite.application_url(App::Crm, wire.url()).crm();
        get_person(&crm).await.unwrap();

        wire.break_after(0, Way::Down, Then::Hold);
        let start = Instant::now();
        let again = get_person(&crm).await.unwrap();

        assert_eq!(again.attempts(), 2);
        let waited = start.elapsed();
        // Without pings, the attempt would take its 10 seconds.
        assert!(waited < Duration::from_secs(9), "{waited:?}");
        // One for the token, and two for the calls.
        assert_eq!(peer.connections(), 3);
        // From here on everybody is on the new one.
        get_person(&crm).await.unwrap();
        assert_eq!((peer.connections(), peer.requests().len()), (3, 4));
    }
}

#[test]
fn fault_40_nothing_to_loopback_goes_over_a_proxy_of_the_environment() {
    let proxy = Peer::start(always(reply(502)));
    let mut tour = Command::new(program("tour"));
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        tour.env(name, proxy.url());
    }
    tour.env_remove("NO_PROXY").env_remove("no_proxy");

    let output = output(&mut tour);

    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn fault_45_an_attempt_that_ends_before_its_connection_stands_was_not_sent() {
    // A connection is accepted, and its TLS handshake never answered.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let tokens = Peer::start([]);
    let address = silent.local_addr().unwrap();
    let crm = builder_at(&tokens.url())
        .application_url(App::Crm, format!("https://{address}"))
        .timeout(Duration::from_millis(50))
        .crm();

    let error = add_person(&crm).await.unwrap_err();

    // So that a command without a key is repeated like any other.
    assert_tried(&error, ErrorKind::Timeout, Effect::NotSent, 3);
    assert_says(
        &error,
        &[&format!("while waiting for a connection to {address}")],
    );
    let whole = add_person(&crm).timeout(Duration::MAX);
    let error = whole
        .deadline(Duration::from_millis(500))
        .await
        .unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::NotSent));
}

over_all! { fault_45_where_a_connection_stood_nothing_is_known }

async fn fault_45_where_a_connection_stood_nothing_is_known(over: Over) {
    let steps = script([committed().close_on_reuse(), committed()]);
    let peer = over.start(steps.then_always(committed().held()));
    let crm = crm_at(&peer);
    add_person(&crm).await.unwrap();
    let late = add_person(&crm).timeout(Duration::from_millis(500));
    let error = late.await.unwrap_err();
    let told = (error.attempts(), error.effect());
    assert_eq!(told, (1, Effect::Unknown), "{error}");
}

over_all! {
    fault_48_a_pooled_connection_of_a_runtime_that_stands_still_costs_no_more_than_its_time
}

async fn fault_48_a_pooled_connection_of_a_runtime_that_stands_still_costs_no_more_than_its_time(
    over: Over,
) {
    // This runtime is neither of the two.
    let elsewhere = tokio::task::spawn_blocking(move || {
        let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
        for is_command in [false, true] {
            let peer = over.start(always(if is_command { committed() } else { person() }));
            let crm = builder_to(&peer).timeout(Duration::from_millis(300)).crm();
            let call = async || {
                if is_command {
                    let receipt = add_person(&crm).await?;
                    return Ok(receipt.attempts());
                }
                Ok(get_person(&crm).await?.attempts())
            };
            // It keeps what it has, and nobody drives it any more.
            let idle = runtime();
            idle.block_on(call()).unwrap();

            let again: Result<u32, Error> = runtime().block_on(call());

            let seen = peer.requests();
            match over.protocol {
                // All attempts wait for the connection that they share.
                Protocol::Http2 if over.client == Client::Reqwest => {
                    let effect = if is_command {
                        Effect::NotSent
                    } else {
                        Effect::Unknown
                    };
                    assert_tried(&again.unwrap_err(), ErrorKind::Timeout, effect, 3);
                    assert_eq!(seen.len(), 1);
                }
                _ => {
                    assert_eq!(again.unwrap(), 2);
                    assert_eq!(seen.len(), 2, "the first attempt got nowhere");
                    assert_ne!(seen[0].connection, seen[1].connection);
                }
            }
            // What was given up is not sent when the other runtime goes on, which can use what it kept.
            idle.block_on(tokio::task::yield_now());
            idle.block_on(call()).unwrap();
            assert_eq!(peer.requests().len(), seen.len() + 1);
            // And a runtime that is gone leaves nobody waiting.
            drop(idle);
            runtime().block_on(call()).unwrap();
        }
    });
    elsewhere.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn fault_54_a_retry_after_that_many_get_is_spread_and_never_early() {
    let (_clock, (events, _guard)) = (HoldClock::new(), Events::here());
    let peer = Peer::start(always(reply(503).header("retry-after", "5")));
    let crm = builder_at(&peer.url()).retry(RetryPolicy::default()).crm();
    let call = |_| tokio::spawn(get_person(&crm).send());
    let calls: Vec<_> = (0..50).map(call).collect();
    let repeated = || events.lines("DEBUG", &["the call is retried"]);
    until(|| repeated().len() == 50).await;
    calls.iter().for_each(tokio::task::JoinHandle::abort);

    let wait = |line: &String| -> String {
        let (_, wait) = line.split_once("wait_s=").unwrap();
        wait.split(' ').next().unwrap().to_owned()
    };
    let mut waits: Vec<_> = repeated().iter().map(wait).collect();
    for wait in &waits {
        let wait: f64 = wait.parse().unwrap();
        assert!((5.0..=5.2).contains(&wait), "{wait}");
    }
    waits.sort();
    waits.dedup();
    assert!(waits.len() > 40, "{waits:?}");
}

#[tokio::test]
async fn fault_54_dates_in_all_three_forms_of_http_are_understood() {
    for later in [
        "Sun, 06 Nov 1994 08:49:57 GMT",
        "Sunday, 06-Nov-94 08:49:57 GMT",
        "Sun Nov  6 08:49:57 1994",
    ] {
        let busy = reply(503)
            .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
            .header("retry-after", later);
        let peer = Peer::start(always(busy));
        let call = get_person(&crm_at(&peer)).retry(RetryPolicy::none());
        let error = call.await.unwrap_err();
        let after = Duration::from_secs(20);
        assert_eq!(error.retry_after(), Some(after), "{later}");
    }
}

/// Suites behind a proxy that wants a credential, one over each HTTP client.
fn through(proxy: &Peer, scheme: &str) -> [SuiteBuilder; 2] {
    let proxy = proxy.url().replace("//", "//ann:hunter2@");
    front::through(&proxy, || {
        builder_at(&format!("{scheme}://crm.suite.test")).token_source(Given)
    })
}

/// The credential came along.
fn assert_authorized(seen: &Seen) {
    let credential = seen.header("proxy-authorization");
    assert_eq!(credential, Some("Basic YW5uOmh1bnRlcjI="));
}

#[tokio::test]
async fn fault_70_a_plain_proxy_that_wants_a_credential_gets_it() {
    let proxy = Peer::start(always(person()));
    for suite in through(&proxy, "http") {
        get_person(&suite.allow_insecure_http().crm())
            .await
            .unwrap();
    }
    assert_eq!(proxy.requests().len(), 2);
    for seen in proxy.requests() {
        let people = "http://crm.suite.test/api/crm/v1/people/";
        assert!(seen.target.starts_with(people));
        assert_authorized(&seen);
        assert_eq!(seen.bearer(), Some("t-1"));
        assert_eq!(seen.header("host"), Some("crm.suite.test"));
    }
}

#[tokio::test]
async fn fault_70_a_tunnel_is_asked_for_with_the_credential_and_a_refusal_is_not_sent() {
    for (answer, begun) in [
        ("200 OK", true),
        ("407 Proxy Authentication Required", false),
        ("403 No", false),
    ] {
        let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
        let proxy = Peer::start(always(raw(answer)));
        for suite in through(&proxy, "https") {
            let error = add_person(&suite.retry(RetryPolicy::none()).crm()).await;
            let error = error.unwrap_err();

            // Behind an open tunnel the handshake begins, which this peer does not answer: it closes.
            assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 1);
            let line = error.to_string();
            assert_says(&line, &["crm.suite.test:443"]);
            let named = line.contains("tunnel") || line.contains("proxy");
            assert!(begun || named, "{line}");
            assert!(!line.contains("hunter2"), "{line}");
        }
        assert_eq!(proxy.requests().len(), 2);
        for seen in proxy.requests() {
            let asked = (&*seen.method, &*seen.target);
            assert_eq!(asked, ("CONNECT", "crm.suite.test:443"));
            assert_authorized(&seen);
        }
    }
}

#[test]
fn fault_70_a_proxy_of_the_environment_that_refuses_is_named() {
    let refusal = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
    let proxy = Peer::start(always(raw(refusal)));
    let address = proxy.url().trim_start_matches("http://").to_owned();
    let mut tour = Command::new(program("tour"));
    tour.env("HTTPS_PROXY", format!("http://ann:hunter2@{address}"))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .env("SUITE_CLIENT_ID", "client")
        .env("SUITE_CLIENT_SECRET", "secret");
    for name in ["CORE", "CRM", "CALENDAR", "ACCOUNTING"] {
        let host = name.to_lowercase();
        let url = format!("https://{host}.suite.test");
        tour.env(format!("SUITE_{name}_URL"), url);
    }

    let output = output(&mut tour);

    assert!(!output.status.success());
    let told = told(&output);
    let said = format!("core.suite.test:443 through the proxy http://{address}");
    assert_says(&told, &[&said]);
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn fault_75_without_a_runtime_a_call_and_a_walk_are_errors_that_say_so() {
    let peer = Peer::start([]);
    let crm = crm_at(&peer);
    let mut items = crm.people().list().items().read_ahead();
    for error in [
        at_once(async { get_person(&crm).await.unwrap_err() }),
        at_once(async { add_person(&crm).await.unwrap_err() }),
        at_once(async { items.try_next().await.unwrap_err() }),
    ] {
        assert_tried(&error, ErrorKind::Configuration, Effect::NotSent, 0);
        assert_says(&error, &["no Tokio runtime"]);
    }
    // Nobody is in the way of a runtime that comes later.
    let call = Runtime::new().unwrap().block_on(get_person(&crm).send());
    assert_eq!(call.unwrap_err().attempts(), 1);
    assert_eq!(peer.requests().len(), 1);
}
