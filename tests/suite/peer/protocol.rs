//! Which protocol the clients of a peer speak.

use sdk_core::transport::{HttpClient, HyperClient};

use super::{Peer, Reserved, Script};

/// Whether suites use hyper and not reqwest, where they are not told otherwise.
pub(crate) const HYPER: bool = cfg!(feature = "hyper-1-default");

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    /// Over plain TCP, by prior knowledge.
    Http2,
}

impl Protocol {
    /// A peer for clients that speak it.
    pub(crate) fn start(self, script: impl Into<Script>) -> Peer {
        Reserved::new().open(self, script)
    }

    /// A client that speaks it, if it is not the one that suites make by themselves.
    pub(crate) fn client(self) -> Option<HttpClient> {
        // Plain text needs no certificates, and loading those of the system takes long.
        let builder = || reqwest::Client::builder().no_proxy().tls_certs_only([]);
        match self {
            Self::Http1 => None,
            Self::Http2 if HYPER => Some(HyperClient::builder().http2_prior_knowledge().into()),
            Self::Http2 => Some(builder().http2_prior_knowledge().into()),
        }
    }
}

/// Runs tests over both protocols, as `name::http1` and `name::http2`; if so said, with a paused clock.
macro_rules! over_both {
    ($($name:ident)+) => { $crate::peer::over_both! { #[tokio::test] $($name)+ } };
    (paused: $($name:ident)+) => {
        $crate::peer::over_both! { #[tokio::test(start_paused = true)] $($name)+ }
    };
    (#[$test:meta] $($name:ident)+) => {$(
        mod $name {
            use $crate::peer::Protocol;

            #[$test]
            async fn http1() {
                super::$name(Protocol::Http1).await;
            }

            #[$test]
            async fn http2() {
                super::$name(Protocol::Http2).await;
            }
        }
    )+};
}

pub(crate) use over_both;
