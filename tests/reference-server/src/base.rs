//! The base URLs of applications, which may differ from the addresses that they listen on.

use std::net::SocketAddr;

use http::Uri;

/// A normalized base URL without a trailing slash: an origin, and the path prefix of an application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    pub(crate) url: String,
    origin: usize,
    /// The host, without brackets.
    pub(crate) host: String,
}

impl Base {
    pub(crate) fn read(setting: &str, text: &str) -> Result<Base, String> {
        let problem = || {
            let rule = "must be http:// or https://, a host, a port and a path, if any";
            format!("{setting}: {rule}: got {text:?}")
        };
        let uri: Uri = text.parse().map_err(|_| problem())?;
        let (scheme, usual) = match uri.scheme_str() {
            Some("http") => ("http", 80),
            Some("https") => ("https", 443),
            _ => return Err(problem()),
        };
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        let name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte);
        let is_named = !host.is_empty() && host.bytes().all(name);
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        // `uri.port()` is `None` for a port that is not a number, so check the string.
        let port = authority.get(host.len()..).unwrap_or_default();
        let has_port = port.is_empty() || uri.port_u16().is_some_and(|port| port > 0);
        let climbs = uri.path().split('/').any(|part| matches!(part, "." | ".."));
        if !is_named || !has_port || climbs || text.contains(['@', '?', '#']) {
            return Err(problem());
        }
        // Clients omit the default port of a scheme.
        let port = uri.port_u16().filter(|port| *port != usual);
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        let mut url = format!("{scheme}://{host}{port}");
        let origin = url.len();
        url += uri.path().trim_end_matches('/');
        let host = host.trim_matches(['[', ']']).to_owned();
        Ok(Base { url, origin, host })
    }

    /// Returns the base URL of a server that listens on `at`. Without a name, clients on this machine use the address.
    pub(crate) fn listening(
        scheme: &str,
        name: Option<&str>,
        at: SocketAddr,
    ) -> Result<Base, String> {
        let own = match at.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
            ip if ip.is_ipv6() => format!("[{ip}]"),
            ip => ip.to_string(),
        };
        let (name, port) = (name.unwrap_or(&own), at.port());
        Base::read("public_host", &format!("{scheme}://{name}:{port}"))
    }

    pub(crate) fn origin(&self) -> &str {
        &self.url[..self.origin]
    }

    /// Returns the part of a path below this base URL.
    pub(crate) fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        match path.strip_prefix(&self.url[self.origin..])? {
            "" => Some("/"),
            rest => rest.starts_with('/').then_some(rest),
        }
    }
}
