//! Who may command: programs on this machine, and no page that happens to be open in a browser.

use std::net::IpAddr;

use http::{Method, StatusCode, header};

use super::Problem;
use crate::message::Request;

/// Refuses what a browser sends on behalf of a foreign page. `open` is a control port that is not on loopback, and
/// may have any name.
pub(super) fn check(request: &Request, open: bool) -> Result<(), Problem> {
    let forbidden = |message: &str| Err(Problem(StatusCode::FORBIDDEN, message.to_owned()));
    if request.method != Method::GET && request.headers.contains_key(header::ORIGIN) {
        return forbidden("no page may command this server");
    }
    // A name that somebody else's DNS turns into 127.0.0.1 makes a foreign page look like our own.
    let host = request.header(header::HOST.as_str()).unwrap_or_default();
    if !open && !is_local(host) {
        return forbidden("address this port by its IP address or as localhost");
    }
    Ok(())
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_names_are_addresses_and_localhost() {
        for host in [
            "127.0.0.1:4014",
            "localhost:4014",
            "LOCALHOST",
            "[::1]:4014",
            "192.168.0.2",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:4014",
            "127.0.0.1.evil.example:80",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
