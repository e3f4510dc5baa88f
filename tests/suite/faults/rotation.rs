//! Credentials that change while a program runs (rows 3, 41, 42 and 61).

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::{Ready, join_all, pending, ready};
use http::Request;
use sdk_core::transport::RequestBody;
use sdk_core::{
    ClientAuthentication, ClientCredentials, CredentialSource, CredentialsFuture, Error, ErrorKind,
    TokenError,
};
use sdk_reference_server::Operation;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::fixtures::{Bomb, get_person, person, server};
use crate::peer::json;
use crate::seams::transport::service::Scripted;
use crate::support::{Clients as _, Events, assert_unsent, builder_for, quick_tokens};

const MINUTE: Duration = Duration::from_secs(60);

type Script = dyn Fn(usize) -> CredentialsFuture<'static> + Send + Sync;

/// A source whose answers depend on how often it was asked before.
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

    /// Gives these secrets in turn, and then the last one.
    fn secrets<const N: usize>(secrets: [&'static str; N]) -> Self {
        Self::new(move |asked| async move { Ok(credential(secrets[asked.min(N - 1)])) })
    }

    fn asked(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
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

/// A token endpoint and an application in memory. Both repeat what they were sent.
struct Echoing {
    service: Scripted,
    /// The one secret that is right.
    secret: Arc<Mutex<&'static str>>,
    /// The secrets that were sent.
    sent: Arc<Mutex<Vec<String>>>,
}

impl Echoing {
    fn with(secret: &'static str) -> Self {
        let (secret, sent) = (Arc::new(Mutex::new(secret)), Arc::default());
        let (right, log) = (Arc::clone(&secret), Arc::<Mutex<Vec<String>>>::clone(&sent));
        let answer = move |request: Request<RequestBody>| {
            if !request.uri().path().ends_with("/oauth/token") {
                return ready(Ok(person().in_memory()));
            }
            let header = request.headers()["authorization"].to_str().unwrap();
            let sent = header.strip_prefix("Basic ").unwrap();
            let sent = String::from_utf8(STANDARD.decode(sent).unwrap()).unwrap();
            let sent = sent.split_once(':').unwrap().1.to_owned();
            log.lock().unwrap().push(sent.clone());
            let answer = if sent == *right.lock().unwrap() {
                let token = format!("token-for-{sent}");
                let lives =
                    json!({"access_token": token, "token_type": "Bearer", "expires_in": 60});
                json(200, &lives)
            } else {
                let told = format!("{sent} and {header} are wrong, unlike canary-old-000");
                let refused = json!({"error": "invalid_client", "error_description": told});
                json(401, &refused)
            };
            ready(Ok(answer.in_memory()))
        };
        Self {
            service: Scripted::new(answer).without_tokens(),
            secret,
            sent,
        }
    }

    fn rotate(&self, secret: &'static str) {
        *self.secret.lock().unwrap() = secret;
    }

    /// The secrets that were sent since the last time.
    fn exchanges(&self) -> Vec<String> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    fn crm(&self, source: &Source) -> sdk_crm::Client {
        let builder = self.service.suite().credential_source(source.clone());
        builder.deadline(5 * MINUTE).crm()
    }
}

fn token_error(error: &Error) -> &TokenError {
    let cause = std::error::Error::source(error).unwrap();
    cause.downcast_ref().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_rotated_under_load_without_a_failed_call() {
    let server = server().await;
    let secret = Arc::new(Mutex::new(server.client_secret().to_owned()));
    let id = server.client_id().to_owned();
    let (now, name) = (Arc::clone(&secret), id.clone());
    let source = Source::new(move |asked| {
        let basic = ClientCredentials::new(&name, &**now.lock().unwrap());
        // By either way of authentication.
        let credential = match asked % 2 {
            0 => basic,
            _ => basic.with_authentication(ClientAuthentication::RequestBody),
        };
        async { Ok(credential) }
    });
    let suite = builder_for(&server).credential_source(source.clone());
    let crm = suite.crm();
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
    let exchanges = server.attempts(Operation::ExchangeToken);
    assert_eq!(exchanges, u64::try_from(source.asked()).unwrap());
}

#[tokio::test(start_paused = true)]
async fn fault_03_a_secret_that_comes_late_is_taken_after_the_backoff() {
    let (events, _guard) = Events::here();
    let service = Echoing::with("canary-new-111");
    let source = Source::secrets(["canary-old-000", "canary-new-111"]);
    let crm = service.crm(&source);
    let mut told = Vec::new();
    for _ in 0..3 {
        let error = get_person(&crm).await.unwrap_err();
        assert_unsent(&error, ErrorKind::Unauthenticated, &["redacted"]);
        told.push(format!("{error} {error:?}"));
    }
    // Callers inside the backoff ask nobody.
    assert_eq!(service.exchanges(), ["canary-old-000"]);
    assert_eq!(source.asked(), 1);
    let backoff = quick_tokens().renewal_backoff.cap;
    sleep(backoff).await;
    get_person(&crm).await.unwrap();
    assert_eq!(service.exchanges(), ["canary-new-111"]);

    // The service quotes the old secret long after: row 41.
    service.rotate("canary-more-222");
    sleep(5 * MINUTE).await;
    let error = get_person(&crm).await.unwrap_err();
    told.push(format!("{error} {error:?} {crm:?} {}", events.text()));
    let told = told.join(" ");
    assert!(told.contains("token renewal failed"));
    let basic = "Y2xpZW50OmNhbmFye";
    for secret in ["canary-old", "canary-new", "canary-more", basic] {
        assert!(!told.contains(secret), "{secret} in {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn fault_41_an_old_secret_in_the_error_of_a_source_is_redacted() {
    let (events, _guard) = Events::here();
    let service = Echoing::with("canary-old-000");
    let source = Source::new(|asked| async move {
        match asked {
            0 => Ok(credential("canary-old-000")),
            1 => Err(TokenError::from_source("instead of canary-old-000")),
            _ => Err(TokenError::unavailable("instead of canary-old-000: sealed")),
        }
    });
    let crm = service.crm(&source);
    get_person(&crm).await.unwrap();
    for _ in 0..2 {
        sleep(5 * MINUTE).await;
        let error = get_person(&crm).await.unwrap_err();
        assert_unsent(&error, ErrorKind::TokenUnavailable, &[]);
        let told = format!("{error} {error:?} {:?}", token_error(&error));
        assert!(!told.contains("canary"), "{told}");
    }
    // What is transient is asked again at once, within the attempts of a renewal.
    assert_eq!(source.asked(), 1 + 1 + 3);
    assert!(!events.text().contains("canary"), "{}", events.text());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_is_a_typed_error_and_never_reaches_the_wire() {
    let service = Echoing::with("right");
    let failing = Source::new(|_| async { Err(TokenError::from_source("no such file")) });
    let slow = Source::new(|_| pending());
    let panics = Source::new(|_| async { panic!("canary") });
    let panics_early = Source::new(|_| -> Ready<_> { panic!("canary") });
    let late = "timed out: the token source did not answer within 60s";
    let explodes = Source::new(|_| async { panic_any(Bomb::default()) });
    let empty = Source::secrets([""]);
    let nameless = Source::new(|_| async { Ok(ClientCredentials::new("", "right")) });
    for (source, says, retryable, asked) in [
        (failing, "token source failed: no such file", false, 1),
        (slow, late, true, 1),
        (panics, "the credential source panicked", false, 1),
        (panics_early, "the credential source panicked", false, 1),
        // Row 91: dropping its payload panics, too.
        (explodes, "the credential source panicked", false, 1),
        (empty, "the credential has an empty secret", true, 3),
        (nameless, "the credential has an empty client id", true, 3),
    ] {
        let error = get_person(&service.crm(&source)).await.unwrap_err();
        assert_unsent(&error, ErrorKind::TokenUnavailable, &[says]);
        let told = (error.is_retryable(), source.asked());
        assert_eq!(told, (retryable, asked), "{says}");
    }
    assert!(service.exchanges().is_empty());
}

#[tokio::test(start_paused = true)]
async fn fault_42_a_live_token_outlives_its_source() {
    let service = Echoing::with("right");
    for ill in ["fails", "hangs", "panics"] {
        let source = Source::new(move |asked| async move {
            match (asked, ill) {
                (0, _) => Ok(credential("right")),
                (_, "fails") => Err(TokenError::from_source("sealed")),
                (_, "hangs") => pending().await,
                _ => panic!("sealed"),
            }
        });
        let crm = service.crm(&source);
        let start = Instant::now();
        // The token lives for a minute; a renewal is due after three quarters of it.
        while start.elapsed() < Duration::from_secs(58) {
            get_person(&crm).await.unwrap();
            sleep(Duration::from_secs(1)).await;
        }
        assert!(source.asked() > 1, "{ill}");
    }
    assert_eq!(service.exchanges(), ["right"; 3]);
}
