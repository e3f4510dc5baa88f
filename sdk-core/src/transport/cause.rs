//! What lies behind an error of the HTTP client.

use std::error::Error;
use std::io;

use url::Url;

use crate::error::source::chain;

/// The innermost cause, which says the most.
pub(crate) fn root<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

/// Host and port of an address, and the proxy in front of it: what to check when it cannot be reached.
pub(crate) fn target(url: &Url, proxy: Option<&str>) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default();
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let through = proxy.map_or_else(String::new, |proxy| format!(" through the proxy {proxy}"));
    format!("{host}{port}{through}")
}

/// Whether the other side refused the connection.
pub(crate) fn is_refused_connection(error: &(dyn Error + 'static)) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether a TLS handshake failed, which a TLS library reports as an I/O error of invalid data.
pub(crate) fn is_tls(error: &(dyn Error + 'static)) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData)
}

/// Whether the server says that it did not process the request: it refused the stream, or went away with a last stream before
/// it (RFC 9113, sections 6.8 and 8.7). Streams up to the last one end in an I/O error instead.
#[cfg(feature = "http2")]
pub(crate) fn is_unprocessed(error: &(dyn Error + 'static)) -> bool {
    let refused = |error: &h2::Error| error.reason() == Some(h2::Reason::REFUSED_STREAM);
    chain(error)
        .filter_map(|error| error.downcast_ref::<h2::Error>())
        .any(|error| error.is_remote() && (error.is_go_away() || refused(error)))
}

/// Only HTTP/2 says so.
#[cfg(not(feature = "http2"))]
pub(crate) fn is_unprocessed(_error: &(dyn Error + 'static)) -> bool {
    false
}
