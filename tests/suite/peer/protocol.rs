//! Which HTTP client the clients of a peer send with, and which protocol they speak.

use sdk_core::SuiteBuilder;
use sdk_transport_hyper::HyperTransport;
use sdk_transport_hyper::hyper_util::client::proxy::matcher::Matcher;

use super::proxy::known;
use super::{Peer, Reserved, Script};

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    /// Over plain TCP, by prior knowledge.
    Http2,
}

/// What sends the requests of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Reqwest,
    Hyper,
}

/// How requests get to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) client: Client,
    pub(crate) protocol: Protocol,
}

impl Over {
    /// As suites send by default.
    pub(crate) const DEFAULT: Self = Self::new(Client::Reqwest, Protocol::Http1);
    /// HTTP/2, with each client.
    pub(crate) const HTTP2: [Self; 2] = [
        Self::new(Client::Reqwest, Protocol::Http2),
        Self::new(Client::Hyper, Protocol::Http2),
    ];

    pub(crate) const fn new(client: Client, protocol: Protocol) -> Self {
        Self { client, protocol }
    }

    /// A peer for such clients.
    pub(crate) fn start(self, script: impl Into<Script>) -> Peer {
        Reserved::new().open(self, script)
    }

    /// A suite that sends like this.
    pub(crate) fn set(self, builder: SuiteBuilder) -> SuiteBuilder {
        match (self.client, self.protocol) {
            (Client::Reqwest, Protocol::Http1) => builder,
            (Client::Reqwest, Protocol::Http2) => {
                // Plain text needs no certificates, and loading those of the system takes long.
                let reqwest = reqwest::Client::builder().no_proxy().tls_certs_only([]);
                builder.http_client(reqwest.http2_prior_knowledge())
            }
            (Client::Hyper, protocol) => {
                let mut hyper = HyperTransport::builder().proxies(None);
                if protocol == Protocol::Http2 {
                    hyper = hyper.http2_prior_knowledge();
                }
                builder.transport(hyper.build())
            }
        }
    }
}

/// Sends with each HTTP client through a proxy for everything. Neither loads the roots of the system, which takes long.
pub(crate) fn through(proxy: &str, builder: impl Fn() -> SuiteBuilder) -> [SuiteBuilder; 2] {
    let reqwest = reqwest::Client::builder().tls_certs_only([]);
    let reqwest = reqwest.proxy(reqwest::Proxy::all(proxy).unwrap());
    let hyper = HyperTransport::builder().tls(known());
    let hyper = hyper.proxies(Matcher::builder().all(proxy).build());
    [
        builder().http_client(reqwest),
        builder().transport(hyper.build()),
    ]
}

/// Runs tests with both HTTP clients over both protocols, as `name::http1`, `name::http2`, `name::hyper_http1` and
/// `name::hyper_http2`; if so said, with a paused clock.
macro_rules! over_all {
    ($($name:ident)+) => { $crate::peer::over_all! { #[tokio::test] $($name)+ } };
    (paused: $($name:ident)+) => {
        $crate::peer::over_all! { #[tokio::test(start_paused = true)] $($name)+ }
    };
    (#[$test:meta] $($name:ident)+) => {$(
        $crate::peer::over_all! {
            #[$test] $name in
            http1: Reqwest Http1, http2: Reqwest Http2, hyper_http1: Hyper Http1, hyper_http2: Hyper Http2
        }
    )+};
    (#[$test:meta] $name:ident in $($case:ident: $client:ident $protocol:ident),+) => {
        mod $name {
            use $crate::peer::{Client, Over, Protocol};

            $(
                #[$test]
                async fn $case() {
                    super::$name(Over::new(Client::$client, Protocol::$protocol)).await;
                }
            )+
        }
    };
}

pub(crate) use over_all;
