//! Credentials that change at run time.

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{Ready, join_all, pending};
use sdk_core::{
    Backoff, ClientCredentials, CredentialSource, CredentialsFuture, ErrorKind, TokenError,
};
use sdk_reference_server::{ClientSpec, Operation, ReferenceServer};
use serde_json::json;
use tokio::time::sleep;

use crate::fixtures::{Bomb, in_memory, server};
use crate::support::{Clients as _, Events, assert_unsent, builder_for, once, quick_tokens_with};

const MINUTE: Duration = Duration::from_secs(60);

type Script = dyn Fn(usize) -> CredentialsFuture<'static> + Send + Sync;

/// A source whose results depend on the number of earlier calls.
#[derive(Clone)]
struct Source(Arc<(AtomicUsize, Box<Script>)>);

impl Source {
    fn new<F>(script: impl Fn(usize) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ClientCredentials, TokenError>> + Send + 'static,
    {
        let script = move |asked| -> CredentialsFuture<'static> { Box::pin(script(asked)) };
        Self(Arc::new((AtomicUsize::new(0), Box::new(script))))
    }

    fn asked(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Returns a server with an additional client that has this secret, and a CRM client with this credential source.
    /// Renewals have three attempts within one minute.
    fn crm(&self, secret: &str) -> (ReferenceServer, sdk_crm::Client) {
        let (server, builder) = in_memory();
        server.add_client(ClientSpec::new("client", secret));
        let policy = quick_tokens_with(|it| {
            it.attempts = 3;
            it.renewal_timeout = MINUTE;
            it.renewal_backoff = Backoff::new(MINUTE / 60, MINUTE / 2);
        });
        let builder = builder.credential_source(self.clone()).deadline(5 * MINUTE);
        (server, builder.token_policy(policy).crm())
    }
}

impl CredentialSource for Source {
    fn credentials(&self) -> CredentialsFuture<'_> {
        (self.0.1)(self.0.0.fetch_add(1, Ordering::SeqCst))
    }
}

fn credential(secret: &str) -> ClientCredentials {
    ClientCredentials::new("client", secret)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_rotated_under_load_without_a_failed_call() {
    let server = server().await;
    let id = server.client_id().to_owned();
    let secret = Arc::new(Mutex::new(server.client_secret().to_owned()));
    let (name, now) = (id.clone(), Arc::clone(&secret));
    let source = Source::new(move |_| {
        let credential = ClientCredentials::new(&name, &**now.lock().unwrap());
        async { Ok(credential) }
    });
    let crm = builder_for(&server).credential_source(source.clone()).crm();
    crm.prewarm().await.unwrap();
    for round in 1..=5 {
        let calls: Vec<_> = (0..50)
            .map(|_| tokio::spawn(crm.today().get().send()))
            .collect();
        let next = format!("secret-{round}");
        secret.lock().unwrap().clone_from(&next);
        server.rotate_secret(&id, next);
        server.revoke_tokens();
        for call in join_all(calls).await {
            call.unwrap().unwrap();
        }
        crm.today().get().await.unwrap();
    }
    assert_eq!(source.asked(), 6);
    assert_eq!(server.attempts(Operation::ExchangeToken), 6);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_arrives_late_is_used_after_the_backoff() {
    let (events, _guard) = Events::here();
    let source = Source::new(|asked| async move {
        Ok(credential(
            ["canary-old-000", "canary-new-111"][asked.min(1)],
        ))
    });
    let (server, crm) = source.crm("canary-new-111");
    let rejects = || {
        let basic = "Basic Y2xpZW50OmNhbmFyeS1vbGQtMDAw";
        let output = format!("{basic} is wrong, and so is canary-old-000");
        let body = json!({"error": "invalid_client", "error_description": output});
        let fault = once(&server, Operation::ExchangeToken).status(401);
        fault.body(body.to_string(), "application/json");
    };
    let mut output = Vec::new();
    rejects();
    for _ in 0..3 {
        let error = crm.people().list().await.unwrap_err();
        assert_unsent(&error, ErrorKind::Unauthenticated, &["redacted"]);
        output.push(format!("{error} {error:#?}"));
    }
    // During the backoff, callers reach neither the server nor the source.
    assert_eq!(server.attempts(Operation::ExchangeToken), 1);
    assert_eq!(source.asked(), 1);
    sleep(MINUTE).await;
    // The server accepts only the new secret.
    crm.people().list().await.unwrap();

    // Much later, the service quotes the old secret (row 41).
    rejects();
    sleep(5 * MINUTE).await;
    let error = crm.people().list().await.unwrap_err();
    output.push(format!("{error} {error:#?} {crm:?} {}", events.text()));
    let output = output.join(" ");
    assert!(output.contains("token renewal failed"));
    for secret in ["canary-old", "canary-new", "Y2xpZW50OmNhbmFye"] {
        assert!(!output.contains(secret), "{secret} in {output}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_secret_in_the_error_of_a_source_is_redacted() {
    let (events, _guard) = Events::here();
    let source = Source::new(|asked| async move {
        match asked {
            0 => Ok(credential("canary-old-000")),
            1 => Err(TokenError::from_source("instead of canary-old-000")),
            _ => Err(TokenError::unavailable("instead of canary-old-000: sealed")),
        }
    });
    let (_server, crm) = source.crm("canary-old-000");
    crm.people().list().await.unwrap();
    for _ in 0..2 {
        sleep(5 * MINUTE).await;
        let error = crm.people().list().await.unwrap_err();
        assert_unsent(&error, ErrorKind::TokenUnavailable, &[]);
        let cause = std::error::Error::source(&error).unwrap();
        let output = format!("{error} {error:#?} {cause:?}");
        assert!(!output.contains("canary"), "{output}");
    }
    // A temporary failure is retried within the attempts of a renewal.
    assert_eq!(source.asked(), 1 + 1 + 3);
    assert!(!events.text().contains("canary"), "{}", events.text());
}

#[tokio::test(start_paused = true)]
async fn a_failed_source_is_a_typed_error_and_sends_nothing() {
    let failing = Source::new(|_| async { Err(TokenError::from_source("no such file")) });
    let slow = Source::new(|_| pending());
    let late = "timed out: the token source did not answer within 60s";
    let panics = Source::new(|_| async { panic!("canary") });
    let panics_early = Source::new(|_| -> Ready<_> { panic!("canary") });
    // Row 91: dropping the panic payload panics too.
    let explodes = Source::new(|_| async { panic_any(Bomb::default()) });
    let panicked = "the credential source panicked";
    let empty = Source::new(|_| async { Ok(credential("")) });
    let nameless = Source::new(|_| async { Ok(ClientCredentials::new("", "right")) });
    for (source, says, retryable, asked) in [
        (failing, "token source failed: no such file", false, 1),
        (slow, late, true, 1),
        (panics, panicked, false, 1),
        (panics_early, panicked, false, 1),
        (explodes, panicked, false, 1),
        (empty, "the credential has an empty secret", true, 3),
        (nameless, "the credential has an empty client id", true, 3),
    ] {
        let (server, crm) = source.crm("right");
        let error = crm.people().list().await.unwrap_err();
        assert_unsent(&error, ErrorKind::TokenUnavailable, &[says]);
        let output = (error.is_retryable(), source.asked());
        assert_eq!(output, (retryable, asked), "{says}");
        assert!(server.requests().is_empty(), "{says}");
    }
}
