//! Many installations in one process: suites that share their connections and nothing else.

mod apart;
mod labels;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Response};
use sdk_core::transport::{ReplyBody, RequestBody, Transport, TransportFuture};
use sdk_core::{App, ClientCredentials, Suite, SuiteBuilder};

/// A transport that is every installation. Installation 17 is at `crm-17.suite.test` and `core-17.suite.test`, which gives
/// tokens to its credential alone. A call that brings something to the wrong installation fails.
#[derive(Clone, Default)]
struct World {
    calls: Arc<AtomicUsize>,
    exchanges: Arc<AtomicUsize>,
}

impl Transport for World {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let body = self.answer(request);
        Box::pin(async {
            // All calls are in flight at once.
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            Ok(Response::new(ReplyBody::from(body)))
        })
    }
}

impl World {
    /// Installation 0, on whose transport others can be built.
    fn first(&self) -> Suite {
        let builder = of(Suite::builder(), 0).transport(self.clone());
        builder.build().unwrap()
    }

    fn answer(&self, request: Request<RequestBody>) -> String {
        let (head, body) = request.into_parts();
        let host = head.uri.host().unwrap().trim_end_matches(".suite.test");
        let (app, number) = host.split_once('-').unwrap();
        let authorization = head.headers["authorization"].to_str().unwrap();
        if app == "core" {
            self.exchanges.fetch_add(1, Ordering::Relaxed);
            let own = STANDARD.encode(format!("client-{number}:secret-{number}"));
            assert_eq!(authorization, format!("Basic {own}"));
            let form = String::from_utf8(body.into_bytes().unwrap().to_vec()).unwrap();
            assert!(form.contains(&format!("crm-{number}.suite.test")), "{form}");
            return format!(r#"{{"access_token":"token-{number}","token_type":"Bearer"}}"#);
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        assert_eq!(authorization, format!("Bearer token-{number}"));
        let (path, reference) = (head.uri.path(), reference(number));
        let body = String::from_utf8(body.into_bytes().unwrap().to_vec()).unwrap();
        assert!(format!("{path} {body}").contains(&reference), "{path}");
        format!(r#"{{"outcome":"succeeded","publicReference":"{reference}"}}"#)
    }
}

/// The addresses and the credential of an installation.
fn of(builder: SuiteBuilder, number: usize) -> SuiteBuilder {
    let (id, secret) = (format!("client-{number}"), format!("secret-{number}"));
    builder
        .label(format!("installation {number}"))
        .core_url(format!("https://core-{number}.suite.test"))
        .application_url(App::Crm, format!("https://crm-{number}.suite.test"))
        .credentials(ClientCredentials::new(id, secret))
}

/// An installation on the connections of another.
fn beside(first: &Suite, number: usize) -> Suite {
    let builder = of(Suite::builder(), number).transport_of(first);
    builder.build().unwrap()
}

/// A person that only this installation has.
fn reference(number: impl ToString) -> String {
    format!("PER-{:0>12}", number.to_string())
}
