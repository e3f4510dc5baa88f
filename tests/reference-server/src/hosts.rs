//! The host names that the server accepts. If DNS points a foreign name at this machine (DNS rebinding), a page on that
//! name can reach the server. The browser then sends the foreign name in `Host`.

use std::net::IpAddr;

use http::{Version, header};

use crate::builder::Builder;
use crate::message::Request;
use crate::refusal::Refusal;

const FOREIGN: &str =
    "use localhost, an address the server listens on, or a name allowed with --allow-host";

/// Rejects a request that names a foreign host, or whose `Host` header breaks HTTP (RFC 9112, section 3.2).
pub(crate) fn check(settings: &Builder, request: &Request) -> Result<(), Refusal> {
    let named = request.headers.get_all(header::HOST).iter();
    let mut hosts: Vec<_> = named
        .map(|host| host.to_str().unwrap_or_default())
        .collect();
    if hosts.len() > 1 {
        return Err(Refusal::invalid("Host: given more than once"));
    }
    if hosts.is_empty() && request.version == Version::HTTP_11 {
        return Err(Refusal::invalid("Host: required"));
    }
    hosts.extend(request.authority.as_deref());
    if hosts.into_iter().all(|host| is_ours(settings, host)) {
        return Ok(());
    }
    Err(Refusal::new(403, "foreign_host", FOREIGN))
}

fn is_ours(settings: &Builder, host: &str) -> bool {
    let Some(name) = name(host) else {
        return false;
    };
    let known = |known: &str| known.eq_ignore_ascii_case(name);
    if known("localhost") || settings.allowed_hosts.iter().any(|allowed| known(allowed)) {
        return true;
    }
    // DNS rebinding needs a name, so every address of this server is accepted.
    name.parse().is_ok_and(|address: IpAddr| {
        let address = address.to_canonical();
        let listens = |at: &IpAddr| at.is_unspecified() || at.to_canonical() == address;
        address.is_loopback() || [settings.host, settings.control_host].iter().any(listens)
    })
}

/// Returns the name or address in a host, without its port, brackets and trailing dot.
fn name(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            (
                address,
                port.strip_prefix(':').or(port.is_empty().then_some(""))?,
            )
        }
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let port_holds = port.bytes().all(|byte| byte.is_ascii_digit());
    port_holds.then(|| name.strip_suffix('.').unwrap_or(name))
}
