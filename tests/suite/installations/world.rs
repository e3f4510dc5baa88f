//! A transport without sockets that serves every installation at addresses of its own, and holds each request to them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Response};
use sdk_core::transport::{ReplyBody, RequestBody, Transport, TransportFuture};
use sdk_core::{App, ClientCredentials, Suite, SuiteBuilder};

/// Serves installation 17 at `crm-17.suite.test` and `core-17.suite.test`, which gives out tokens to its credential alone.
#[derive(Clone, Default)]
pub(super) struct World(Arc<Seen>);

#[derive(Default)]
pub(super) struct Seen {
    pub(super) exchanges: AtomicU64,
    pub(super) calls: AtomicU64,
    /// What came to the wrong installation.
    mistakes: Mutex<Vec<String>>,
}

impl World {
    pub(super) fn seen(&self) -> &Seen {
        &self.0
    }

    /// How many parts of a program still hold this transport, the test included.
    pub(super) fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// The requests that no installation should have got.
    pub(super) fn mistakes(&self) -> Vec<String> {
        let mistakes = self.0.mistakes.lock();
        mistakes.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self, request: Request<RequestBody>) -> String {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let (app, number) = host
            .trim_end_matches(".suite.test")
            .split_once('-')
            .unwrap();
        let header = |name: &str| {
            let value = request.headers().get(name)?;
            Some(value.to_str().unwrap().to_owned())
        };
        let authorization = header("authorization").unwrap_or_default();
        let key = header("idempotency-key");
        let expected_key = key.as_ref().map(|_| key_of(number));
        let path = request.uri().path().to_owned();
        if app == "core" {
            self.0.exchanges.fetch_add(1, Ordering::Relaxed);
            let form = request.into_body().into_bytes().unwrap();
            let form = String::from_utf8(form.to_vec()).unwrap();
            let own = STANDARD.encode(format!("client-{number}:secret-{number}"));
            let audience = format!("crm-{number}.suite.test");
            self.check(
                &host,
                authorization == format!("Basic {own}"),
                &authorization,
            );
            self.check(&host, form.contains(&audience), &form);
            return format!(r#"{{"access_token":"token-{number}","token_type":"Bearer"}}"#);
        }
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        let own = format!("Bearer token-{number}");
        self.check(&host, authorization == own, &authorization);
        self.check(&host, key == expected_key, &format!("{key:?}"));
        let is_command = path.ends_with("/commands");
        let own = is_command || path.ends_with(&person_of(number));
        self.check(&host, own, &path);
        let name = person_of(number);
        format!(r#"{{"outcome":"succeeded","publicReference":"{name}","displayName":"{number}"}}"#)
    }

    fn check(&self, host: &str, holds: bool, found: &str) {
        if !holds {
            let mistakes = self.0.mistakes.lock();
            let mut mistakes = mistakes.unwrap_or_else(PoisonError::into_inner);
            mistakes.push(format!("{host} got {found}"));
        }
    }
}

impl Transport for World {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let world = self.clone();
        Box::pin(async move {
            // All calls are under way at once.
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            let body = world.answer(request);
            Ok(Response::new(ReplyBody::from(body)))
        })
    }
}

/// The addresses and the credential of an installation.
pub(super) fn of(builder: SuiteBuilder, number: usize) -> SuiteBuilder {
    let (id, secret) = (format!("client-{number}"), format!("secret-{number}"));
    builder
        .label(format!("installation {number}"))
        .core_url(format!("https://core-{number}.suite.test"))
        .application_url(App::Crm, format!("https://crm-{number}.suite.test"))
        .credentials(ClientCredentials::new(id, secret))
}

/// An installation on the connections of another.
pub(super) fn beside(first: &Suite, number: usize) -> Suite {
    of(Suite::builder(), number)
        .transport_of(first)
        .build()
        .unwrap()
}

/// A key that only this installation sends.
pub(super) fn key_of(number: impl std::fmt::Display) -> String {
    format!("key-of-installation-{number}")
}

/// A person that only this installation has.
pub(super) fn person_of(number: impl std::fmt::Display) -> String {
    format!("PER-{number:0>12}", number = number.to_string())
}
