//! A service in memory that is every installation, each at addresses of its own, and holds each request to them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use sdk_core::transport::RequestBody;
use sdk_core::{App, ClientCredentials, Suite, SuiteBuilder, TokenPolicy};

use crate::seams::transport::service::{Scripted, reply};

/// Serves installation 17 at `crm-17.suite.test` and `core-17.suite.test`, which gives out tokens to its credential alone.
/// A call that brings something to the wrong installation fails.
pub(super) fn world() -> Scripted {
    let world = Scripted::new(|request| async {
        // All calls are under way at once.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        Ok(reply(200, answer(request)))
    });
    world.without_tokens()
}

fn answer(request: Request<RequestBody>) -> String {
    let (head, body) = request.into_parts();
    let host = head.uri.host().unwrap().trim_end_matches(".suite.test");
    let (app, number) = host.split_once('-').unwrap();
    let header = |name: &str| Some(head.headers.get(name)?.to_str().unwrap().to_owned());
    let authorization = header("authorization").unwrap();
    if app == "core" {
        let own = STANDARD.encode(format!("client-{number}:secret-{number}"));
        assert_eq!(authorization, format!("Basic {own}"));
        let form = String::from_utf8(body.into_bytes().unwrap().to_vec()).unwrap();
        assert!(form.contains(&format!("crm-{number}.suite.test")), "{form}");
        return format!(r#"{{"access_token":"token-{number}","token_type":"Bearer"}}"#);
    }
    assert_eq!(authorization, format!("Bearer token-{number}"));
    let (path, name) = (head.uri.path(), person_of(number));
    let is_command = path.ends_with("/commands");
    let key = header("idempotency-key");
    assert_eq!(key, is_command.then(|| key_of(number)), "{path}");
    assert!(is_command || path.ends_with(&name), "{path} at {number}");
    format!(r#"{{"outcome":"succeeded","publicReference":"{name}","displayName":"{number}"}}"#)
}

/// The addresses and the credential of an installation. No limit passes on a busy machine, and no token expires.
pub(super) fn of(builder: SuiteBuilder, number: usize) -> SuiteBuilder {
    const HOUR: Duration = Duration::from_secs(3_600);
    let mut tokens = TokenPolicy::default();
    tokens.exchange_timeout = HOUR;
    tokens.renewal_timeout = HOUR;
    tokens.default_lifetime = HOUR;
    tokens.max_lifetime = HOUR;
    let (id, secret) = (format!("client-{number}"), format!("secret-{number}"));
    builder
        .label(format!("installation {number}"))
        .core_url(format!("https://core-{number}.suite.test"))
        .application_url(App::Crm, format!("https://crm-{number}.suite.test"))
        .credentials(ClientCredentials::new(id, secret))
        .timeout(HOUR)
        .deadline(HOUR)
        .token_policy(tokens)
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
