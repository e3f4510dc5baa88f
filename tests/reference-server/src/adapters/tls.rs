//! TLS with the caller's certificate.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, crypto};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

const HTTP2: &[u8] = b"h2";

/// A certificate chain and its key, in PEM.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Identity {
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, String> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate);
        let chain: Vec<_> = chain
            .collect::<Result<_, _>>()
            .map_err(|error| format!("tls_cert: {error}"))?;
        if chain.is_empty() {
            return Err("tls_cert: no certificate in PEM".to_owned());
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|error| format!("tls_key: {error}"))?;
        let provider = Arc::new(crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| format!("tls_key: of this certificate: {error}"))?;
        config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Performs the TLS handshake, and returns whether the client speaks HTTP/2.
pub(super) async fn accept(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
) -> io::Result<(TlsStream<TcpStream>, bool)> {
    let stream = acceptor.accept(stream).await?;
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2);
    Ok((stream, is_http2))
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(certificate and key)")
    }
}
