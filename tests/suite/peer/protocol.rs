//! Which HTTP client the clients of a peer send with, and which protocol they speak.

use sdk_core::SuiteBuilder;
use sdk_transport_hyper::HyperTransport;

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
        let is_http2 = self.protocol == Protocol::Http2;
        if self.client == Client::Hyper {
            let hyper = HyperTransport::builder().proxies(None);
            let hyper = if is_http2 {
                hyper.http2_prior_knowledge()
            } else {
                hyper
            };
            return builder.transport(hyper.build());
        }
        if is_http2 {
            // Plain text needs no certificates, and loading those of the system takes long.
            let reqwest = reqwest::Client::builder().no_proxy().tls_certs_only([]);
            return builder.http_client(reqwest.http2_prior_knowledge());
        }
        builder
    }
}

/// Runs tests with both HTTP clients over both protocols, as `name::http1`, `name::http2`, `name::hyper_http1` and
/// `name::hyper_http2`; if so said, with a paused clock.
macro_rules! over_all {
    ($($name:ident)+) => { $crate::peer::over_all! { #[tokio::test] $($name)+ } };
    (paused: $($name:ident)+) => {
        $crate::peer::over_all! { #[tokio::test(start_paused = true)] $($name)+ }
    };
    (#[$test:meta] $($name:ident)+) => {$(
        mod $name {
            use $crate::peer::{Client, Over, Protocol};

            #[$test]
            async fn http1() {
                super::$name(Over::new(Client::Reqwest, Protocol::Http1)).await;
            }

            #[$test]
            async fn http2() {
                super::$name(Over::new(Client::Reqwest, Protocol::Http2)).await;
            }

            #[$test]
            async fn hyper_http1() {
                super::$name(Over::new(Client::Hyper, Protocol::Http1)).await;
            }

            #[$test]
            async fn hyper_http2() {
                super::$name(Over::new(Client::Hyper, Protocol::Http2)).await;
            }
        }
    )+};
}

pub(crate) use over_all;
