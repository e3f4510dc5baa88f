use std::path::Path;

use sdk_core::transport::reqwest::{Certificate, Client, NoProxy, Proxy};
use sdk_core::{Suite, SuiteBuilder};

/// Sends everything through a proxy, and trusts a company's CA in addition to the system's roots.
///
/// The proxy's address may contain a credential: `http://user:password@proxy.example.com:3128`.
pub fn behind_proxy(
    settings: SuiteBuilder, // such as `Suite::builder().environment()`
    proxy: &str,
    ca: &Path, // a PEM file with one certificate or more
) -> Result<Suite, Box<dyn std::error::Error>> {
    let certificates = Certificate::from_pem_bundle(&std::fs::read(ca)?)?;
    if certificates.is_empty() {
        return Err(format!("{} contains no certificate", ca.display()).into());
    }
    let direct = NoProxy::from_string("localhost,.internal.example.com");
    let client = Client::builder()
        .proxy(Proxy::all(proxy)?.no_proxy(direct))
        .tls_certs_merge(certificates);
    Ok(settings.http_client(client).build()?)
}
