//! What stands in front of a peer: a server of TLS, and a proxy with tunnels. Each tells what it saw.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use sdk_core::transport::hyper_util::client::proxy::matcher::Matcher;
use sdk_core::transport::rustls::pki_types::pem::PemObject as _;
use sdk_core::transport::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sdk_core::transport::rustls::server::WebPkiClientVerifier;
use sdk_core::transport::rustls::{ClientConfig, RootCertStore, ServerConfig, crypto};
use sdk_core::transport::{HttpClient, HyperClient};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::support::apart;

/// A certificate of `localhost` and `suite.test` that nobody signed; servers and clients show the same one.
pub(crate) const CERTIFICATE: &[u8] = include_bytes!("../../reference-server/tests/tls/cert.pem");
pub(crate) const KEY: &[u8] = include_bytes!("../../reference-server/tests/tls/key.pem");

/// Listens on a port of loopback, on a thread and a runtime of its own, until it is dropped.
pub(crate) struct Front<T> {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<T>>>,
    _stop: oneshot::Sender<()>,
}

impl<T: Clone + Send + 'static> Front<T> {
    /// Does this with each connection: it says what it saw, and goes on by itself.
    fn start<F: Future<Output = Option<T>> + Send>(
        meet: impl Fn(TcpStream) -> F + Clone + Send + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        let stop = apart(move || async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((near, _)) = listener.accept().await {
                let learned = meet(near).await;
                told.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend(learned);
            }
        });
        Self {
            address,
            seen,
            _stop: stop,
        }
    }

    /// What it saw of each connection.
    pub(crate) fn seen(&self) -> Vec<T> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// What a server learns from a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) name: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) certificate: Option<Vec<u8>>,
}

fn chain() -> Vec<CertificateDer<'static>> {
    vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()]
}

fn roots() -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(chain());
    Arc::new(roots)
}

/// The settings of a client that trusts the certificate and shows it too.
pub(crate) fn known() -> ClientConfig {
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots())
        .with_client_auth_cert(chain(), PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap()
}

/// A builder of each HTTP client, with a proxy for everything. Neither loads the roots of the system, which takes long.
pub(crate) fn clients_through(proxy: &str) -> [HttpClient; 2] {
    let builder = reqwest::Client::builder().tls_certs_only([]);
    let hyper = HyperClient::builder().tls(known());
    [
        builder.proxy(reqwest::Proxy::all(proxy).unwrap()).into(),
        hyper.proxies(Matcher::builder().all(proxy).build()).into(),
    ]
}

/// Unpacks TLS for an origin such as `http://127.0.0.1:4010`, and wants to see a certificate.
pub(crate) fn tls(origin: &str, protocols: &[&str]) -> Front<Hello> {
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots(), Arc::clone(&provider));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain(), PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let origin = origin.trim_start_matches("http://").to_owned();
    Front::start(move |near| {
        let (acceptor, origin) = (acceptor.clone(), origin.clone());
        async move {
            let mut near = acceptor.accept(near).await.ok()?;
            let tls = near.get_ref().1;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let hello = Hello {
                name: tls.server_name().map(str::to_owned),
                protocol: tls.alpn_protocol().map(text),
                certificate: tls.peer_certificates().map(|chain| chain[0].to_vec()),
            };
            let mut far = TcpStream::connect(origin).await.ok()?;
            tokio::spawn(async move { copy_bidirectional(&mut near, &mut far).await });
            Some(hello)
        }
    })
}

/// Opens tunnels to an address, whatever it is asked for, to whoever shows the credential of `ann:hunter2`.
pub(crate) fn tunnels(to: SocketAddr) -> Front<Vec<String>> {
    Front::start(move |near| async move {
        let mut near = BufReader::new(near);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            near.read_line(&mut line).await.ok()?;
            if line.trim_end().is_empty() {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let credential = "Proxy-Authorization: Basic YW5uOmh1bnRlcjI=";
        if !head.iter().any(|line| line == credential) {
            let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
            near.write_all(refusal.as_bytes()).await.ok()?;
            return Some(head);
        }
        near.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
        let mut far = TcpStream::connect(to).await.ok()?;
        tokio::spawn(async move { copy_bidirectional(&mut near, &mut far).await });
        Some(head)
    })
}
