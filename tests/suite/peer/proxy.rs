//! A forwarder in front of a server, which passes on bytes, terminates TLS, or opens tunnels like a proxy. It records
//! each connection and can silence a connection.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use sdk_transport_hyper::rustls::pki_types::pem::PemObject as _;
use sdk_transport_hyper::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sdk_transport_hyper::rustls::{ClientConfig, RootCertStore, ServerConfig, crypto};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::io::{AsyncWriteExt as _, BufReader, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::lock;
use crate::support::apart;

/// A forwarder on a free loopback port, with its own thread and runtime, until it is dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
}

/// The handling of a new connection.
enum Front {
    Plain,
    Tls(TlsAcceptor),
    Tunnel,
}

struct Shared {
    front: Front,
    target: SocketAddr,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether the connection of the next response becomes silent.
    silences: bool,
    /// The recorded start of each connection.
    seen: Vec<String>,
}

impl Proxy {
    /// Forwards to an origin such as `http://127.0.0.1:4010`.
    pub(crate) fn start(origin: &str) -> Self {
        Self::open(Front::Plain, address(origin))
    }

    /// Terminates TLS in front of an origin. Records the server name and the protocol of each connection.
    pub(crate) fn tls(origin: &str, protocols: &[&str]) -> Self {
        let (chain, key) = identity();
        let provider = Arc::new(crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth();
        let mut config = config.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        Self::open(Front::Tls(Arc::new(config).into()), address(origin))
    }

    /// Opens tunnels to one address, whatever address the client asks for. Records the request heads.
    pub(crate) fn tunnel(to: SocketAddr) -> Self {
        Self::open(Front::Tunnel, to)
    }

    fn open(front: Front, target: SocketAddr) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            front,
            target,
            state: Mutex::default(),
        });
        let wire = Arc::clone(&shared);
        let stop = apart(move || async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((near, _)) = listener.accept().await {
                let wire = Arc::clone(&wire);
                tokio::spawn(async move { wire.serve(near).await });
            }
        });
        Self {
            address,
            shared,
            _stop: stop,
        }
    }

    /// Returns its origin, without a trailing slash.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Silences the connection of the next response. The connection stays open.
    pub(crate) fn silence_next(&self) {
        self.shared.state().silences = true;
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.shared.state().seen.clone()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Serves a connection. Returns `None` if it ends before it is silenced.
    async fn serve(&self, mut near: TcpStream) -> Option<()> {
        near.set_nodelay(true).ok()?;
        match &self.front {
            Front::Plain => {
                self.forward(&mut near).await?;
                // Reads and discards bytes until the client closes the connection.
                while near.read(&mut [0; 1024]).await.ok()? > 0 {}
            }
            Front::Tls(acceptor) => {
                let mut near = acceptor.accept(near).await.ok()?;
                let tls = near.get_ref().1;
                let protocol = String::from_utf8_lossy(tls.alpn_protocol()?);
                let seen = format!("{} {protocol}", tls.server_name()?);
                self.state().seen.push(seen);
                self.forward(&mut near).await?;
            }
            Front::Tunnel => {
                let (mut near, mut head) = (BufReader::new(near), String::new());
                while !head.ends_with("\r\n\r\n") {
                    let read = near.read_line(&mut head).await.ok()?;
                    (read > 0).then_some(())?;
                }
                self.state().seen.push(head);
                near.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
                self.forward(&mut near).await?;
            }
        }
        Some(())
    }

    /// Copies in both directions until either side ends or the connection is silenced.
    async fn forward(&self, near: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<()> {
        let mut far = TcpStream::connect(self.target).await.ok()?;
        far.set_nodelay(true).ok()?;
        let ((from_near, to_near), (from_far, to_far)) = (split(near), far.split());
        tokio::select! {
            silenced = self.pump(from_near, to_far, false) => silenced,
            silenced = self.pump(from_far, to_near, true) => silenced,
        }
    }

    async fn pump(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        is_down: bool,
    ) -> Option<()> {
        let mut buffer = [0; 4096];
        loop {
            let read = from.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
            if is_down && std::mem::take(&mut self.state().silences) {
                return Some(());
            }
            to.write_all(&buffer[..read]).await.ok()?;
            to.flush().await.ok()?;
        }
    }
}

fn address(origin: &str) -> SocketAddr {
    origin.trim_start_matches("http://").parse().unwrap()
}

/// Returns a self-signed certificate for `localhost` and `suite.test`.
fn identity() -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let certificate = include_bytes!("../../reference-server/tests/tls/cert.pem");
    let key = include_bytes!("../../reference-server/tests/tls/key.pem");
    let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    (vec![certificate], key)
}

/// Returns TLS settings for a client that trusts the certificate.
pub(crate) fn known() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(identity().0);
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots);
    config.with_no_client_auth()
}
