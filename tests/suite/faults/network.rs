//! Rows 39, 45, 48 and 75: connections that go silent, that are never established, or that belong to another runtime.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use sdk_core::{App, Effect, ErrorKind};
use sdk_transport_hyper::HyperTransport;
use tokio::runtime::{Builder, Runtime};

use crate::fixtures::{add_person, at_once, committed, get_person, person, read, send_unkeyed};
use crate::peer::proxy::Proxy;
use crate::peer::{Client, Over, Peer, Protocol, always, over_all, script};
use crate::support::{
    Clients, assert_says, assert_tried, assert_unsent, builder_at, builder_to, crm_at,
    run_script_over,
};

over_all! {
    fault_45_the_effect_is_unknown_on_an_established_connection
    fault_48_a_pooled_connection_of_a_stalled_runtime_costs_at_most_a_timeout
}

#[tokio::test]
async fn fault_39_a_silent_http2_connection_is_replaced() {
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
        // Without pings, the attempt would last until its timeout.
        let attempt = Duration::from_secs(60);
        let suite = suite.timeout(attempt).deadline(2 * attempt);
        let crm = suite.application_url(App::Crm, wire.url()).crm();
        get_person(&crm).await.unwrap();

        wire.silence_next();
        let start = Instant::now();
        let again = get_person(&crm).await.unwrap();

        assert_eq!(again.attempts(), 2);
        assert!(start.elapsed() < attempt, "{:?}", start.elapsed());
        // One connection for the token and two for the calls.
        assert_eq!(peer.connections(), 3);
        // From now on, all calls use the new connection.
        get_person(&crm).await.unwrap();
        assert_eq!((peer.connections(), peer.requests().len()), (3, 4));
    }
}

#[tokio::test]
async fn fault_45_an_attempt_that_ends_before_its_connection_is_established_was_not_sent() {
    const BRIEF: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(3_600);
    // The server accepts the connection and never answers the TLS handshake.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let tokens = Peer::start([]);
    let suite = || {
        let builder = builder_at(&tokens.url()).connect_timeout(LONG);
        builder.application_url(App::Crm, format!("https://{address}"))
    };
    let attempt = suite().timeout(BRIEF);
    let connect = suite().connect_timeout(BRIEF);
    // The caller's own client would wait longer.
    let patient = reqwest::Client::builder().connect_timeout(LONG);
    let own = suite().connect_timeout(BRIEF).http_client(patient);
    let waiting = format!("while waiting for a connection to {address}");
    for (suite, kind, phrase) in [
        (attempt, ErrorKind::Timeout, &waiting),
        (connect, ErrorKind::Connect, &address),
        (own, ErrorKind::Connect, &address),
    ] {
        let error = add_person(&suite.crm()).await.unwrap_err();
        // Therefore a command without a key is retried like any other.
        assert_tried(&error, kind, Effect::NotSent, 3);
        assert_says(&error, &[phrase, "50ms"]);
    }
    let whole = add_person(&suite().crm()).timeout(Duration::MAX);
    let error = whole.deadline(10 * BRIEF).await.unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::NotSent));
}

async fn fault_45_the_effect_is_unknown_on_an_established_connection(over: Over) {
    let steps = script([committed().close_on_reuse(), committed()]);
    let script = steps.then_always(committed().held());
    let run = run_script_over(over, script, async |suite| {
        let crm = suite.crm();
        add_person(&crm).await?;
        let late = add_person(&crm).timeout(Duration::from_millis(500));
        late.await
    })
    .await;
    let error = run.result.unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert!(error.command().is_some(), "{error}");
}

async fn fault_48_a_pooled_connection_of_a_stalled_runtime_costs_at_most_a_timeout(over: Over) {
    // The calls run on two other runtimes.
    let elsewhere = tokio::task::spawn_blocking(move || {
        let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
        for is_command in [false, true] {
            let peer = over.start(always(if is_command { committed() } else { person() }));
            let suite = builder_to(&peer).timeout(Duration::from_millis(300));
            let suite = suite.suite();
            let call = async || {
                if is_command {
                    return send_unkeyed(&suite).await;
                }
                read(&suite).await
            };
            // This runtime keeps its connections, but nothing drives it any more.
            let idle = runtime();
            idle.block_on(call()).unwrap();

            let again = runtime().block_on(call());

            let seen = peer.requests();
            match over.protocol {
                // All attempts wait for the shared connection.
                Protocol::Http2 if over.client == Client::Reqwest => {
                    let effect = [Effect::Unknown, Effect::NotSent][usize::from(is_command)];
                    assert_tried(&again.unwrap_err(), ErrorKind::Timeout, effect, 3);
                    assert_eq!(seen.len(), 1);
                }
                _ => {
                    assert_eq!(again.unwrap(), 2);
                    assert_eq!(seen.len(), 2, "the server received the retry");
                    assert_ne!(seen[0].connection, seen[1].connection);
                }
            }
            // When the runtime continues, the abandoned attempt is not sent, and new calls can use its connections.
            idle.block_on(tokio::task::yield_now());
            idle.block_on(call()).unwrap();
            assert_eq!(peer.requests().len(), seen.len() + 1);
            // After the runtime is dropped, no call waits.
            drop(idle);
            runtime().block_on(call()).unwrap();
        }
    });
    elsewhere.await.unwrap();
}

#[test]
fn fault_75_calls_lists_and_tokens_without_a_runtime_return_a_clear_error() {
    let peer = Peer::start([]);
    let crm = crm_at(&peer);
    let needed = [&sdk_crm::operations::LIST_PEOPLE];
    let mut items = crm.people().list().items().read_ahead();
    for error in [
        at_once(async { get_person(&crm).await.unwrap_err() }),
        at_once(async { add_person(&crm).await.unwrap_err() }),
        at_once(async { items.try_next().await.unwrap_err() }),
        at_once(async { crm.prewarm().await.unwrap_err() }),
        at_once(async { crm.missing_scopes(&needed).await.unwrap_err() }),
    ] {
        assert_unsent(&error, ErrorKind::Configuration, &["no Tokio runtime"]);
    }
    assert_eq!(peer.connections(), 0);
    // A later call on a runtime works.
    let call = Runtime::new().unwrap().block_on(get_person(&crm).send());
    assert_eq!(call.unwrap_err().attempts(), 1);
    assert_eq!(peer.requests().len(), 1);
}
