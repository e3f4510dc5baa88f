use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use url::Url;

use crate::transport::loopback::{is_loopback_name, is_plain_loopback};
use crate::transport::proxy;

/// How long connections are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    /// Until one stands.
    pub(crate) connect: Duration,
    /// When an HTTP/2 connection with requests under way is asked whether it is still there.
    pub(crate) ping_interval: Duration,
    /// How long it may take to answer.
    pub(crate) ping_timeout: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            // On loopback and within a region it takes milliseconds.
            connect: Duration::from_secs(5),
            // Together below the time of an attempt, so that a connection that went silent is left before the attempt after
            // it begins.
            ping_interval: Duration::from_secs(4),
            ping_timeout: Duration::from_secs(4),
        }
    }
}

/// The connection pools of a suite.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    /// For whatever leaves this machine.
    network: Option<Client>,
    /// For plain HTTP to loopback, which goes through no proxy, whatever the environment says.
    loopback: Option<Client>,
    /// Whether a builder of the caller's made them.
    is_callers: bool,
    waits: Waits,
}

impl Clients {
    /// The pools that these addresses need. A builder of the caller's makes the one pool for all of them: it says itself
    /// which proxies there are.
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
        let loopback = || finish(without_roots(usual().no_proxy()), addresses, waits);
        let network = || finish(usual(), addresses, waits);
        Ok(Self {
            network: (!far.is_empty()).then(network).transpose()?,
            loopback: (!near.is_empty()).then(loopback).transpose()?,
            is_callers: false,
            waits,
        })
    }

    /// The proxy between here and an address, as far as that is known: what a builder of the caller's has, nobody can see.
    pub(crate) fn proxy_for(&self, url: &Url) -> Option<String> {
        if self.is_callers || is_plain_loopback(url) {
            return None;
        }
        proxy::proxy_for(url)
    }

    /// How long a connection may take to stand.
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.waits.connect
    }

    /// The pool for an address.
    pub(crate) fn client_for(&self, url: &Url) -> Option<Client> {
        let near = self.loopback.as_ref().filter(|_| is_plain_loopback(url));
        // Both were made for all addresses that the suite has.
        near.or(self.network.as_ref()).cloned()
    }
}

/// What is the same for every pool.
fn finish(
    builder: ClientBuilder,
    addresses: &[Url],
    waits: Waits,
) -> Result<Client, reqwest::Error> {
    let mut builder = builder
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(waits.connect);
    // A name that only sounds like loopback goes there too, whatever a resolver says.
    for name in addresses.iter().filter_map(Url::host_str) {
        if is_loopback_name(name) {
            let addresses = [
                SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
            ];
            builder = builder.resolve_to_addrs(name, &addresses);
        }
    }
    with_pings(builder, waits)
        .build()
        .map_err(reqwest::Error::without_url)
}

#[cfg(feature = "http2")]
fn with_pings(builder: ClientBuilder, waits: Waits) -> ClientBuilder {
    builder
        .http2_keep_alive_interval(waits.ping_interval)
        .http2_keep_alive_timeout(waits.ping_timeout)
}

#[cfg(not(feature = "http2"))]
fn with_pings(builder: ClientBuilder, _waits: Waits) -> ClientBuilder {
    builder
}

/// Plain HTTP needs no certificates, and reading those of the system takes longer than everything else.
#[cfg(feature = "rustls")]
fn without_roots(builder: ClientBuilder) -> ClientBuilder {
    builder.tls_certs_only([])
}

#[cfg(not(feature = "rustls"))]
fn without_roots(builder: ClientBuilder) -> ClientBuilder {
    builder
}
