//! The clients under comparison, each doing the same work in its own way.

pub mod exchange;
#[cfg(feature = "peers")]
pub mod handwritten;
#[cfg(feature = "peers")]
pub mod progenitor;
#[cfg(feature = "peers")]
pub mod raw;
pub mod sdk;
pub mod tuned;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(feature = "peers")]
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject as _};

use crate::payload;

/// Any failure: the benchmark stops at the first.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a call shows of what it did.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Items received.
    pub items: u64,
    /// A sum over all items that only their reader can know.
    pub sum: u64,
    /// The next cursor.
    pub next: Option<String>,
}

impl Seen {
    /// What the result of a command shows: its version.
    pub fn command(version: u64) -> Self {
        Self {
            items: 1,
            sum: version,
            next: None,
        }
    }

    /// Goes on with another page.
    pub fn add(&mut self, page: Self) {
        self.items += page.items;
        self.sum += page.sum;
        self.next = page.next;
    }
}

/// A client that can do the work.
pub trait Client: Clone + Send + Sync + 'static {
    /// What [`Seen::sum`] is for a page of so many items.
    fn sum_of_page(items: usize) -> u64 {
        payload::versions_of_page(items)
    }

    /// A client of a server.
    fn new(target: &Target) -> impl Future<Output = Result<Self, Failure>> + Send;

    /// Gets one page of `limit` items.
    fn page(
        &self,
        limit: u32,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<Seen, Failure>> + Send;

    /// Sends one command.
    fn command(&self) -> impl Future<Output = Result<Seen, Failure>> + Send;

    /// Walks a list from a cursor by whatever the client has for it.
    fn walk(
        &self,
        limit: u32,
        cursor: String,
    ) -> impl Future<Output = Result<Seen, Failure>> + Send {
        by_pages(self, limit, cursor)
    }
}

/// Walks page by page: what somebody writes who does not know of streams.
pub async fn by_pages<C: Client>(client: &C, limit: u32, cursor: String) -> Result<Seen, Failure> {
    let mut all = Seen {
        next: Some(cursor),
        ..Seen::default()
    };
    while let Some(cursor) = all.next.take() {
        all.add(client.page(limit, Some(&cursor)).await?);
    }
    Ok(all)
}

/// Where the server is and how to talk to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Its origin.
    pub origin: String,
    /// 1 or 2.
    pub http: u8,
    /// Its certificate, which makes it TLS.
    pub certificate: Option<PathBuf>,
    /// Whether our clients use the lean transport.
    #[serde(default)]
    pub lean: bool,
}

impl Target {
    /// A builder of reqwest's with the least that this target needs; by default that is nothing.
    #[cfg(feature = "peers")]
    pub fn builder(&self) -> Result<reqwest::ClientBuilder, Failure> {
        let mut builder = reqwest::Client::builder();
        if let Some(path) = &self.certificate {
            let root = reqwest::Certificate::from_pem(&std::fs::read(path)?)?;
            builder = builder.tls_certs_only([root]);
        }
        Ok(match (self.http, &self.certificate) {
            (2, None) => builder.http2_prior_knowledge(),
            (2, Some(_)) | (_, None) => builder,
            (_, Some(_)) => builder.http1_only(),
        })
    }

    /// The same for our hyper transport.
    #[cfg(feature = "peers")]
    pub fn hyper(&self) -> Result<sdk_transport_hyper::HyperTransport, Failure> {
        use sdk_transport_hyper::{HyperTransport, rustls};
        let builder = HyperTransport::builder().proxies(None);
        let Some(path) = &self.certificate else {
            let builder = match self.http {
                2 => builder.http2_prior_knowledge(),
                _ => builder,
            };
            return Ok(builder.build());
        };
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(path)?)?;
        let mut tls = rustls::ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth();
        if self.http == 1 {
            tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        }
        Ok(builder.tls(tls).build())
    }

    /// The guard talks HTTP/1.1 in plain text only.
    #[cfg(not(feature = "peers"))]
    pub fn builder(&self) -> Result<reqwest::ClientBuilder, Failure> {
        match (self.http, &self.certificate) {
            (1, None) => Ok(reqwest::Client::builder()),
            _ => Err("built without the feature `peers`, which has TLS and HTTP/2".into()),
        }
    }

    /// The same with limits and a name, as whoever cares sets them.
    pub fn limited(&self) -> Result<reqwest::ClientBuilder, Failure> {
        let builder = self.builder()?.connect_timeout(Duration::from_secs(5));
        Ok(builder
            .timeout(Duration::from_secs(30))
            .user_agent("bench/1.0"))
    }
}
