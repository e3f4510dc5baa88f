//! The ports of the server.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};
#[cfg(feature = "peers")]
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};

/// What is sent back.
pub(crate) type Reply = Response<Full<Bytes>>;

/// What replies on a port.
pub(crate) trait Server: Send + Sync + 'static {
    fn reply(&self, request: Request<Incoming>) -> impl Future<Output = Reply> + Send;
}

/// A port on loopback, chosen by the system.
pub(crate) struct Listener {
    socket: TcpListener,
    #[cfg(feature = "peers")]
    tls: Option<TlsAcceptor>,
}

impl Listener {
    pub(crate) fn plain() -> std::io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Ok(Self {
            // Ten thousand clients may knock at once.
            socket: socket.listen(16_384)?,
            #[cfg(feature = "peers")]
            tls: None,
        })
    }

    /// With a certificate made for it, which goes into a file.
    #[cfg(feature = "peers")]
    pub(crate) fn tls(certificate: &Path) -> std::io::Result<Self> {
        let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()])
            .map_err(std::io::Error::other)?;
        std::fs::write(certificate, issued.cert.pem())?;
        let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der())
            .map_err(std::io::Error::other)?;
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![issued.cert.der().clone()], key)
            .map_err(std::io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let tls = Some(TlsAcceptor::from(Arc::new(config)));
        Ok(Self {
            tls,
            ..Self::plain()?
        })
    }

    /// Without the peers there is no TLS: a second plain port.
    #[cfg(not(feature = "peers"))]
    pub(crate) fn tls(_certificate: &Path) -> std::io::Result<Self> {
        Self::plain()
    }

    pub(crate) fn port(&self) -> std::io::Result<u16> {
        Ok(self.socket.local_addr()?.port())
    }

    pub(crate) async fn accept(self, server: Arc<impl Server>) {
        loop {
            let Ok((stream, _)) = self.socket.accept().await else {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let server = Arc::clone(&server);
            #[cfg(feature = "peers")]
            if let Some(tls) = self.tls.clone() {
                tokio::spawn(async move {
                    if let Ok(stream) = tls.accept(stream).await {
                        connection(stream, server).await;
                    }
                });
                continue;
            }
            tokio::spawn(connection(stream, server));
        }
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    server: Arc<impl Server>,
) {
    let service = service_fn(move |request| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(server.reply(request).await) }
    });
    let stream = TokioIo::new(stream);
    #[cfg(feature = "peers")]
    {
        use hyper_util::{rt::TokioExecutor, server::conn::auto};
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http2().max_concurrent_streams(20_000);
        let _ = builder.serve_connection(stream, service).await;
    }
    #[cfg(not(feature = "peers"))]
    {
        let builder = hyper::server::conn::http1::Builder::new();
        let _ = builder.serve_connection(stream, service).await;
    }
}
