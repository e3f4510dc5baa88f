//! Rows 13, 14 and 28: connections that end early, fail or are not trusted, and redirects.

use std::time::Duration;

use sdk_core::{
    App, Backoff, ClientAuthentication, ClientCredentials, Effect, ErrorKind, RetryPolicy,
};

use crate::fixtures::{
    add_person, committed, created, get_person, person, read, send_keyed, send_unkeyed,
};
use crate::peer::{
    Last, Over, Peer, Reserved, Step, always, close, go_away, over_all, redirect, refuse, reset,
    script,
};
use crate::support::{
    Clients, assert_says, assert_tried, assert_unsent, builder_at, builder_to, run_script_over,
    suite_at, until,
};

over_all! {
    fault_13_a_connection_that_ends_after_its_response_costs_no_attempt
    fault_13_a_read_is_resent_if_its_pooled_connection_was_closed
    fault_13_a_keyed_command_is_resent_with_its_key_and_body
    fault_14_a_refused_connection_is_not_sent_and_is_retried
    fault_28_a_redirect_is_an_error_and_nothing_is_sent_to_its_target
}

async fn fault_13_a_connection_that_ends_after_its_response_costs_no_attempt(over: Over) {
    let peer = over.start([committed().last(), committed()]);
    let suite = suite_at(&peer);
    for _ in 0..2 {
        assert_eq!(send_unkeyed(&suite).await.unwrap(), 1);
    }
    assert_eq!((peer.requests().len(), peer.connections()), (2, 2));
}

async fn fault_13_a_read_is_resent_if_its_pooled_connection_was_closed(over: Over) {
    let script = [person().close_on_reuse(), person()];
    let run = run_script_over(over, script, async |suite| {
        read(suite).await?;
        read(suite).await
    })
    .await;
    assert_eq!((run.attempts(), run.result.unwrap()), (3, 2));
    let [first, broken, last] = [0, 1, 2].map(|at| run.requests[at].connection);
    assert!(first == broken && broken != last);
}

async fn fault_13_a_keyed_command_is_resent_with_its_key_and_body(over: Over) {
    for broken in [close(), reset()] {
        let script = [created().close_on_reuse(), broken, created()];
        let mut run = run_script_over(over, script, async |suite| {
            send_keyed(suite).await?;
            send_keyed(suite).await
        })
        .await;
        let other = run.requests.remove(0);
        assert_eq!((run.attempts(), *run.result.as_ref().unwrap()), (3, 3));
        assert!(run.same_bytes() && run.requests[0].key().is_some());
        assert_ne!(other.key(), run.requests[0].key());
    }
}

async fn fault_14_a_refused_connection_is_not_sent_and_is_retried(over: Over) {
    const SHORT: Duration = Duration::from_millis(20);
    let tokens = over.start([]);
    let crm_port = Reserved::new();
    let suite = builder_to(&tokens).application_url(App::Crm, crm_port.url());
    let suite = suite.suite();
    let crm = suite.crm();

    let error = add_person(&crm).await.unwrap_err();
    assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 3);
    assert!(error.is_retryable() && error.is_unavailable());
    let address = crm_port.url().replace("http://", "");
    assert_says(
        &error,
        &[&format!("cannot connect to {address}"), "refused"],
    );

    // The server comes back while the SDK retries.
    let patient = RetryPolicy::default()
        .with_attempts(50)
        .with_backoff(Backoff::new(SHORT, SHORT));
    let command = tokio::spawn(add_person(&crm).retry(patient).send());
    until(|| suite.stats().attempts >= 3 + 2).await;
    let peer = crm_port.open(over, [committed()]);
    let receipt = command.await.unwrap().unwrap();
    assert!(receipt.attempts() > 2);
    assert_eq!(peer.requests().len(), 1);
}

/// By default, reqwest would follow the redirect. Over HTTP/2, the caller passes such a builder.
async fn fault_28_a_redirect_is_an_error_and_nothing_is_sent_to_its_target(over: Over) {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = over.start(always(person()));
        let away = || redirect(status, elsewhere.url());
        for step in [redirect(status, "/elsewhere"), away()] {
            let run = run_script_over(over, always(step), read).await;
            let error = run.assert_failed(ErrorKind::UnexpectedStatus, Effect::Unknown, 1);
            assert_eq!(error.status(), Some(status));
            assert!(!error.is_retryable());
        }
        let run = run_script_over(over, always(away()), send_keyed).await;
        run.assert_failed(ErrorKind::UnexpectedStatus, Effect::Unknown, 1);

        // The secret of a token exchange isn't sent to the target either.
        let moved = redirect(status, format!("{}/oauth/token", elsewhere.url()));
        let peer = over.start(always(person()).tokens_always(moved));
        let in_body = ClientCredentials::new("client", "secret")
            .with_authentication(ClientAuthentication::RequestBody);
        let crm = builder_to(&peer).credentials(in_body).crm();
        let error = get_person(&crm).await.unwrap_err();
        assert_unsent(&error, ErrorKind::TokenUnavailable, &["a redirect"]);
        assert!(!error.is_retryable());
        assert_eq!((peer.exchanges().len(), peer.requests().len()), (1, 0));
        assert_eq!(elsewhere.connections(), 0);
    }
}

/// Returns the HTTP/2 steps that say that the server did not process a request, for each client.
fn not_processed() -> impl Iterator<Item = (Over, Step)> {
    let steps = || [refuse(), go_away(Last::Before)];
    let with = move |over| steps().map(|step| (over, step));
    Over::HTTP2.into_iter().flat_map(with)
}

#[tokio::test]
async fn fault_13_a_command_that_an_http2_server_did_not_process_is_resent() {
    for (over, step) in not_processed() {
        let script = script([step.clone(), committed()]).tokens([step.clone()]);
        let run = run_script_over(over, script, send_unkeyed).await;
        assert_eq!((run.attempts(), run.exchanges), (2, 2));
        assert_eq!(run.result.unwrap(), 2);

        // If the server processes nothing, the error counts each attempt that it received.
        let run = run_script_over(over, always(step.clone()), send_unkeyed).await;
        let error = run.assert_failed(ErrorKind::Transport, Effect::NotSent, 3);
        assert!(error.is_retryable() && error.is_unavailable());
        let run = run_script_over(over, always(step), read).await;
        assert_eq!(run.error().attempts(), 3);
    }
}

#[tokio::test]
async fn fault_13_an_http2_server_completes_started_requests_after_a_goaway() {
    for over in Over::HTTP2 {
        let peer = over.start([committed().held(), go_away(Last::Before), committed()]);
        let crm = builder_to(&peer).crm();
        let begun = tokio::spawn(add_person(&crm).send());
        peer.saw(1).await;

        // Both calls use one connection. The server processes the first call and excludes the second.
        let late = add_person(&crm).await.unwrap();
        peer.release(1);
        let begun = begun.await.unwrap().unwrap();

        assert_eq!((begun.attempts(), late.attempts()), (1, 2));
        let seen = peer.requests().into_iter().map(|seen| seen.connection);
        assert_eq!(seen.collect::<Vec<_>>(), [1, 1, 2]);
    }
}

#[tokio::test]
async fn fault_13_the_effect_is_unknown_if_an_http2_server_may_have_processed_a_command() {
    for over in Over::HTTP2 {
        for step in [reset(), close(), go_away(Last::This)] {
            let run = run_script_over(over, [step, committed()], send_unkeyed).await;
            run.assert_failed(ErrorKind::Transport, Effect::Unknown, 1);
        }
        // Evidence from a later attempt doesn't apply to the first attempt.
        let script = [reset(), refuse(), refuse()];
        let run = run_script_over(over, script, send_keyed).await;
        run.assert_failed(ErrorKind::Transport, Effect::Unknown, 3);
    }
}

#[tokio::test]
async fn fault_14_a_tls_failure_is_not_retried() {
    let tokens = Peer::start([]);
    let peer = Peer::start(always(person()));
    let url = peer.url().replace("http:", "https:");
    let suite = builder_at(&tokens.url()).application_url(App::Crm, &url);

    let error = get_person(&suite.crm()).await.unwrap_err();

    assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 1);
    assert!(!error.is_retryable());
    assert_says(&error, &["TLS handshake failed"]);
    assert_eq!((peer.connections(), peer.requests().len()), (1, 0));

    // A TLS failure of the token endpoint isn't retried either.
    let endpoint = format!("{url}/oauth/token?key=k-1");
    let suite = builder_at(&tokens.url()).token_url(endpoint);
    let error = get_person(&suite.crm()).await.unwrap_err();
    let phrase = url.replace("https://", "token endpoint unreachable: ");
    assert_unsent(&error, ErrorKind::TokenUnavailable, &[&phrase]);
    assert!(!error.is_retryable() && !error.to_string().contains("k-1"));
    assert_eq!(peer.connections(), 2);
}
