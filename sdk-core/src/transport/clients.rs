use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use url::Url;

use crate::error::Error;
use crate::transport::loopback::{is_loopback_name, is_plain_loopback};
use crate::transport::proxy;

/// How long the suite waits for connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    /// How long a connection may take to come up.
    pub(crate) connect: Duration,
    /// How long an HTTP/2 connection with requests under way may be silent before it is pinged.
    pub(crate) ping_interval: Duration,
    /// How long it may take to answer a ping.
    pub(crate) ping_timeout: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            // On loopback and within a region it takes milliseconds.
            connect: Duration::from_secs(5),
            // Together less than the timeout of an attempt, so that a silent connection is dropped before the next one.
            ping_interval: Duration::from_secs(4),
            ping_timeout: Duration::from_secs(4),
        }
    }
}

/// The connection pools of a suite.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    /// For everything that leaves this machine.
    network: Option<Client>,
    /// For plain HTTP to loopback, which bypasses every proxy that the environment names.
    loopback: Option<Client>,
    /// Whether the caller's own builder made them.
    is_callers: bool,
    waits: Waits,
}

impl Clients {
    /// The pools that these addresses need. The caller's own builder makes one pool for all of them, since it decides itself
    /// which proxies to use.
    pub(crate) fn build(
        own: Option<ClientBuilder>,
        agent: &str,
        addresses: &[Url],
        waits: Waits,
    ) -> Result<Self, reqwest::Error> {
        if let Some(builder) = own {
            return Ok(Self {
                network: Some(finish(builder.user_agent(agent), addresses, waits)?),
                loopback: None,
                is_callers: true,
                waits,
            });
        }
        let usual = || Client::builder().user_agent(agent);
        let (near, far): (Vec<&Url>, Vec<&Url>) =
            addresses.iter().partition(|url| is_plain_loopback(url));
        let loopback = || {
            let builder = usual().no_proxy();
            // Plain HTTP needs no certificates, and loading those of the system is the slowest step of all.
            #[cfg(feature = "rustls")]
            let builder = builder.tls_certs_only([]);
            finish(builder, addresses, waits)
        };
        let network = || finish(usual(), addresses, waits);
        Ok(Self {
            network: (!far.is_empty()).then(network).transpose()?,
            loopback: (!near.is_empty()).then(loopback).transpose()?,
            is_callers: false,
            waits,
        })
    }

    /// The proxy in front of an address, if it is known: those of the caller's own builder are not.
    pub(crate) fn proxy_for(&self, url: &Url) -> Option<String> {
        if self.is_callers || is_plain_loopback(url) {
            return None;
        }
        proxy::proxy_for(url)
    }

    /// How long a connection may take to come up.
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.waits.connect
    }

    /// The pool for an address.
    ///
    /// # Errors
    /// When it is none of the addresses that the pools were made for.
    pub(crate) fn client_for(&self, url: &Url) -> Result<Client, Error> {
        let near = self.loopback.as_ref().filter(|_| is_plain_loopback(url));
        let client = near.or(self.network.as_ref()).cloned();
        client.ok_or_else(|| Error::configuration("the suite has no HTTP client for this address"))
    }
}

/// Adds what all pools have in common.
fn finish(
    builder: ClientBuilder,
    addresses: &[Url],
    waits: Waits,
) -> Result<Client, reqwest::Error> {
    let mut builder = builder
        .redirect(reqwest::redirect::Policy::none())
        // By itself it sends a request again that an HTTP/2 server did not process. Each attempt is the suite's, so that it is
        // counted, waits, and has a budget.
        .retry(reqwest::retry::never())
        .connect_timeout(waits.connect);
    // Names that stand for loopback bypass the resolver.
    for name in addresses.iter().filter_map(Url::host_str) {
        if is_loopback_name(name) {
            let loopback = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            builder = builder.resolve_to_addrs(name, &loopback.map(|ip| SocketAddr::new(ip, 0)));
        }
    }
    #[cfg(feature = "http2")]
    let builder = builder
        .http2_keep_alive_interval(waits.ping_interval)
        .http2_keep_alive_timeout(waits.ping_timeout);
    builder.build().map_err(reqwest::Error::without_url)
}
