//! What stands in front of a peer: a server of TLS, and a proxy with tunnels. Each tells what it saw.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use sdk_core::SuiteBuilder;
use sdk_transport_hyper::HyperTransport;
use sdk_transport_hyper::hyper_util::client::proxy::matcher::Matcher;
use sdk_transport_hyper::rustls::pki_types::pem::PemObject as _;
use sdk_transport_hyper::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sdk_transport_hyper::rustls::server::WebPkiClientVerifier;
use sdk_transport_hyper::rustls::{ClientConfig, RootCertStore, ServerConfig, crypto};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::support::apart;

/// Listens on a port of loopback, on a thread and a runtime of its own, until it is dropped.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    _stop: oneshot::Sender<()>,
}

impl Front {
    /// Does this with each connection, which says what it saw before it goes on.
    fn start<F: Future<Output = Option<(String, BoxFuture<'static, Option<()>>)>> + Send>(
        meet: impl Fn(TcpStream) -> F + Send + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        let stop = apart(move || async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((near, _)) = listener.accept().await {
                if let Some((learned, rest)) = meet(near).await {
                    told.lock().unwrap().push(learned);
                    tokio::spawn(rest);
                }
            }
        });
        Self {
            address,
            seen,
            _stop: stop,
        }
    }

    /// What it saw of each connection.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// A certificate of `localhost` and `suite.test` that nobody signed; servers and clients show the same one.
fn identity() -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let certificate = include_bytes!("../../../reference-server/tests/tls/cert.pem");
    let key = include_bytes!("../../../reference-server/tests/tls/key.pem");
    let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
    (
        vec![certificate],
        PrivateKeyDer::from_pem_slice(key).unwrap(),
    )
}

fn roots() -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(identity().0);
    Arc::new(roots)
}

/// The settings of a client that trusts the certificate and shows it too.
pub(crate) fn known() -> ClientConfig {
    let (chain, key) = identity();
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots());
    config.with_client_auth_cert(chain, key).unwrap()
}

/// Sends with each HTTP client through a proxy for everything. Neither loads the roots of the system, which takes long.
pub(crate) fn through(proxy: &str, builder: impl Fn() -> SuiteBuilder) -> [SuiteBuilder; 2] {
    let reqwest = reqwest::Client::builder().tls_certs_only([]);
    let reqwest = reqwest.proxy(reqwest::Proxy::all(proxy).unwrap());
    let hyper = HyperTransport::builder().tls(known());
    let hyper = hyper.proxies(Matcher::builder().all(proxy).build());
    [
        builder().http_client(reqwest),
        builder().transport(hyper.build()),
    ]
}

/// Unpacks TLS for an origin such as `http://127.0.0.1:4010`. It wants a certificate, and saw name, protocol and that.
pub(crate) fn tls(origin: &str, protocols: &[&str]) -> Front {
    let (chain, key) = identity();
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots(), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_client_cert_verifier(verifier.build().unwrap());
    let mut config = config.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let origin = origin.trim_start_matches("http://").to_owned();
    Front::start(move |near| {
        let (acceptor, origin) = (acceptor.clone(), origin.clone());
        async move {
            let mut near = acceptor.accept(near).await.ok()?;
            let tls = near.get_ref().1;
            let protocol = String::from_utf8_lossy(tls.alpn_protocol()?).into_owned();
            let shown = tls.peer_certificates() == Some(&identity().0[..]);
            let seen = format!("{} {protocol} {shown}", tls.server_name()?);
            let rest = async move {
                let mut far = TcpStream::connect(origin).await.ok()?;
                copy_bidirectional(&mut near, &mut far).await.ok().map(drop)
            };
            Some((seen, Box::pin(rest) as _))
        }
    })
}

/// Opens tunnels to an address, whatever it is asked for, to whoever shows the credential of `ann:hunter2`. It saw the heads.
pub(crate) fn tunnels(to: SocketAddr) -> Front {
    Front::start(move |near| async move {
        let (mut near, mut head) = (BufReader::new(near), String::new());
        while !head.ends_with("\r\n\r\n") {
            near.read_line(&mut head).await.ok()?;
        }
        let lets = head.contains("Proxy-Authorization: Basic YW5uOmh1bnRlcjI=\r\n");
        let rest = async move {
            let status = if lets { "200 OK" } else { "407 Who?" };
            let reply = format!("HTTP/1.1 {status}\r\n\r\n");
            near.write_all(reply.as_bytes()).await.ok()?;
            let mut far = TcpStream::connect(to).await.ok().filter(|_| lets)?;
            copy_bidirectional(&mut near, &mut far).await.ok().map(drop)
        };
        Some((head, Box::pin(rest) as _))
    })
}
