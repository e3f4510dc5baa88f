//! The names of proxies.

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use url::Url;

/// The proxy that the environment names for an address, without its credential, for error texts.
pub(super) fn proxy_for(url: &Url) -> Option<String> {
    let target: Uri = url.as_str().parse().ok()?;
    named(Matcher::from_env().intercept(&target)?.uri())
}

/// A proxy without its credential.
fn named(uri: &Uri) -> Option<String> {
    let port = uri.port().map(|port| format!(":{port}"));
    Some(format!(
        "{}://{}{}",
        uri.scheme_str().unwrap_or("http"),
        uri.host()?,
        port.unwrap_or_default()
    ))
}
