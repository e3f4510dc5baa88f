//! The HTTP client and the protocol of a test.

use sdk_core::SuiteBuilder;
use sdk_transport_hyper::HyperTransport;
use sdk_transport_hyper::hyper_util::client::proxy::matcher::Matcher;

use super::proxy::known;
use super::{Peer, Reserved, Script};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    /// Over plain TCP, with prior knowledge.
    Http2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Reqwest,
    Hyper,
}

/// The client and the protocol that a test uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) client: Client,
    pub(crate) protocol: Protocol,
}

impl Over {
    /// The default of suites.
    pub(crate) const DEFAULT: Self = Self::new(Client::Reqwest, Protocol::Http1);
    /// HTTP/2, with each client.
    pub(crate) const HTTP2: [Self; 2] = [
        Self::new(Client::Reqwest, Protocol::Http2),
        Self::new(Client::Hyper, Protocol::Http2),
    ];

    pub(crate) const fn new(client: Client, protocol: Protocol) -> Self {
        Self { client, protocol }
    }

    pub(crate) fn start(self, script: impl Into<Script>) -> Peer {
        Reserved::new().open(self, script)
    }

    pub(crate) fn set(self, builder: SuiteBuilder) -> SuiteBuilder {
        match (self.client, self.protocol) {
            (Client::Reqwest, Protocol::Http1) => builder,
            (Client::Reqwest, Protocol::Http2) => {
                // Plain HTTP needs no certificates, and loading the system's certificates is slow.
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

/// Returns one suite for each HTTP client, with a proxy for all requests. Neither client loads the system's root
/// certificates, which is slow.
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
/// `name::hyper_http2`. With `paused:`, the clock is paused.
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
