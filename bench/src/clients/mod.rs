//! The compared clients. Each does the same work in its own way.

#[cfg(feature = "peers")]
pub mod handwritten;
#[cfg(feature = "peers")]
pub mod progenitor;
#[cfg(feature = "peers")]
pub mod raw;
pub mod sdk;
pub mod tuned;

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
#[cfg(feature = "peers")]
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject as _};
#[cfg(feature = "peers")]
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use uuid::Uuid;

use crate::payload;

/// Any failure. The benchmark stops at the first failure.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

pub trait Client: Clone + Send + Sync + 'static {
    fn new(target: &Target) -> impl Future<Output = Result<Self, Failure>> + Send;

    /// Gets a page of 50 items and returns a sum over all items.
    fn page(&self) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Sends a command and returns the version in its result.
    fn command(&self) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Returns the expected sum, which only a client that reads all items can compute.
    fn sum_of_page(&self) -> u64 {
        payload::versions_of_page()
    }
}

/// The server, and the client that connects to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Target {
    pub client: String,
    pub origin: String,
    pub http2: bool,
    /// The certificate of a TLS server, as PEM.
    pub certificate: Option<String>,
}

impl Target {
    /// Returns a target for HTTP/1.1 without TLS.
    pub fn plain(client: &str, origin: &str) -> Self {
        Self {
            client: client.to_owned(),
            origin: origin.to_owned(),
            http2: false,
            certificate: None,
        }
    }

    #[cfg(feature = "peers")]
    pub fn tls(&self) -> Result<ClientConfig, Failure> {
        let mut roots = RootCertStore::empty();
        if let Some(certificate) = &self.certificate {
            roots.add(CertificateDer::from_pem_slice(certificate.as_bytes())?)?;
        }
        let tls = ClientConfig::builder().with_root_certificates(roots);
        let mut tls = tls.with_no_client_auth();
        let protocol: &[u8] = if self.http2 { b"h2" } else { b"http/1.1" };
        tls.alpn_protocols = vec![protocol.to_vec()];
        Ok(tls)
    }

    /// Returns a reqwest builder with only the settings that this target needs. The guard needs no settings.
    pub fn builder(&self) -> Result<reqwest::ClientBuilder, Failure> {
        let builder = reqwest::Client::builder();
        #[cfg(feature = "peers")]
        let builder = match (&self.certificate, self.http2) {
            (Some(_), _) => builder.tls_backend_preconfigured(self.tls()?),
            (None, true) => builder.http2_prior_knowledge(),
            (None, false) => builder,
        };
        Ok(builder)
    }

    /// Returns the same builder with the timeouts and the user agent of a production client.
    pub fn limited(&self) -> Result<reqwest::ClientBuilder, Failure> {
        let builder = self.builder()?.user_agent("bench/1.0");
        let builder = builder.connect_timeout(Duration::from_secs(5));
        Ok(builder.timeout(Duration::from_secs(30)))
    }
}

/// Returns the header with a token that is never renewed.
pub fn authorization() -> Result<HeaderValue, Failure> {
    let token = payload::token("000000000");
    let mut header = HeaderValue::from_maybe_shared(format!("Bearer {token}"))?;
    header.set_sensitive(true);
    Ok(header)
}

/// Adds the headers of a command, as cheaply as possible.
pub fn command_headers(headers: &mut HeaderMap) -> Result<(), Failure> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut key = [0; 32];
    let key = Uuid::new_v4().simple().encode_lower(&mut key);
    headers.insert("idempotency-key", HeaderValue::from_str(key)?);
    Ok(())
}
