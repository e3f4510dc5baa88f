//! Addresses of this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

/// Both loopback addresses, with port 0. The URL's port is used instead.
pub(crate) const LOOPBACK: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

/// Whether the URL is plain HTTP to this machine, by address or by [name](is_loopback_name).
pub(crate) fn is_plain_loopback(url: &Url) -> bool {
    url.scheme() == "http" && url.host().is_some_and(|host| is_loopback(&host))
}

/// Whether the host is this machine, by address or by [name](is_loopback_name).
pub(crate) fn is_loopback<S: AsRef<str>>(host: &Host<S>) -> bool {
    match host {
        Host::Domain(name) => is_loopback_name(name.as_ref()),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// Whether a name is a loopback name by definition (RFC 6761, section 6.3). A resolver might disagree, so the suite's
/// HTTP clients resolve these names themselves.
pub(crate) fn is_loopback_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}
