//! A server on its own thread that responds immediately with prepared bodies, and counts its requests.
//!
//! | request | response |
//! |---|---|
//! | `GET` any path, `limit=n`, `cursor=w<left>` | a page of n items; its cursor counts down and ends with `null` |
//! | `POST` any path | the result of a command |
//! | `POST .../oauth/token` | a token |
//! | `POST /t/<delay ms>/<lifetime s>/<status>/oauth/token` | a token, and this status from the second request on |

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use core_affinity::CoreId;
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
#[cfg(feature = "peers")]
use hyper_util::{rt::TokioExecutor, server::conn::auto};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
#[cfg(feature = "peers")]
use tokio_rustls::{TlsAcceptor, rustls};

use crate::clients::Failure;
use crate::payload;

/// The requests since the last call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub pages: u64,
    pub commands: u64,
    pub tokens: u64,
    /// Requests without a bearer token, and commands without an idempotency key or a JSON object.
    pub wrong: u64,
}

/// Serves both versions of HTTP, with and without TLS, on one port.
pub struct Server {
    pub port: u16,
    /// The self-signed certificate, as PEM.
    #[cfg(feature = "peers")]
    pub certificate: String,
    #[cfg(feature = "peers")]
    tls: TlsAcceptor,
    counters: Mutex<Counters>,
    /// Pages of 0 to 50 items, up to the value of their cursor.
    begun: Vec<String>,
    whole: Bytes,
}

impl Server {
    /// Starts the server on this core. The server ends with the process.
    pub fn start(core: Option<CoreId>) -> Result<Arc<Self>, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let begun = (0..=payload::ITEMS).map(payload::page_before_cursor);
        let begun: Vec<String> = begun.collect();
        #[cfg(feature = "peers")]
        let (certificate, tls) = tls()?;
        let server = Arc::new(Self {
            port: listener.local_addr()?.port(),
            #[cfg(feature = "peers")]
            certificate,
            #[cfg(feature = "peers")]
            tls,
            whole: format!("{}\"{}\"}}", begun[payload::ITEMS], payload::NEXT_CURSOR).into(),
            begun,
            counters: Mutex::default(),
        });
        let listening = Arc::clone(&server);
        std::thread::spawn(move || -> Result<(), Failure> {
            core.map(core_affinity::set_for_current);
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(listening.listen(listener))
        });
        Ok(server)
    }

    /// Returns the counts and resets them.
    pub fn counters(&self) -> Counters {
        self.count(std::mem::take)
    }

    fn count<T>(&self, count: impl FnOnce(&mut Counters) -> T) -> T {
        count(&mut self.counters.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn listen(self: Arc<Self>, listener: TcpListener) -> Result<(), Failure> {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(Arc::clone(&self).accept(stream));
            }
        }
    }

    async fn accept(self: Arc<Self>, stream: TcpStream) {
        #[cfg(feature = "peers")]
        let mut first = [0];
        // The first byte of a TLS handshake.
        #[cfg(feature = "peers")]
        if stream.peek(&mut first).await.is_ok() && first == [22] {
            if let Ok(stream) = self.tls.accept(stream).await {
                self.serve(stream).await;
            }
            return;
        }
        self.serve(stream).await;
    }

    async fn serve(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = service_fn(move |request| {
            let server = Arc::clone(&self);
            async move { Ok::<_, Infallible>(server.respond(request).await) }
        });
        #[cfg(not(feature = "peers"))]
        let builder = hyper::server::conn::http1::Builder::new();
        #[cfg(feature = "peers")]
        let mut builder = auto::Builder::new(TokioExecutor::new());
        #[cfg(feature = "peers")]
        builder.http2().max_concurrent_streams(20_000);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let _ = connection.await;
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if let Some(how) = request.uri().path().strip_suffix("/oauth/token") {
            return self.token(how).await;
        }
        let is_page = request.method() == Method::GET;
        let headers = request.headers();
        let authorized = headers.contains_key(AUTHORIZATION);
        let keyed = is_page || headers.contains_key("idempotency-key");
        let page = self.page(request.uri().query().unwrap_or_default());
        let body = request.into_body().collect().await;
        let body = body.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
        let sound = is_page || (body.starts_with(b"{") && body.ends_with(b"}"));
        self.count(|counters| {
            counters.pages += u64::from(is_page);
            counters.commands += u64::from(!is_page);
            counters.wrong += u64::from(!(authorized && keyed && sound));
        });
        match is_page {
            true => json(200, page),
            false => json(201, payload::COMMAND_RESULT),
        }
    }

    fn page(&self, query: &str) -> Bytes {
        let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name));
        let limit = value("limit=")
            .and_then(|limit| limit.parse().ok())
            .unwrap_or(payload::ITEMS);
        let left = value("cursor=w").and_then(|left| left.parse::<u64>().ok());
        let begun = &self.begun[limit];
        match left {
            None if limit == payload::ITEMS => self.whole.clone(),
            None => format!("{begun}\"{}\"}}", payload::NEXT_CURSOR).into(),
            Some(0 | 1) => format!("{begun}null}}").into(),
            // The cursors of all pages have the same length.
            Some(left) => format!("{begun}\"w{:012}\"}}", left - 1).into(),
        }
    }

    async fn token(&self, how: &str) -> Response<Full<Bytes>> {
        let number = self.count(|counters| {
            counters.tokens += 1;
            counters.tokens
        });
        let mut how = how.split('/').skip(2).map(|text| text.parse::<u64>().ok());
        let mut next = |default| how.next().flatten().unwrap_or(default);
        let (delay, lifetime, status) = (next(0), next(300), next(200));
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if number > 1 && status != 200 {
            return json(400, r#"{"error":"invalid_client"}"#);
        }
        let token = payload::token(&format!("{number:09}"));
        json(
            200,
            format!(
                r#"{{"access_token":"{token}","token_type":"Bearer","expires_in":{lifetime}}}"#
            ),
        )
    }
}

/// Returns a new self-signed certificate and a TLS acceptor that uses it.
#[cfg(feature = "peers")]
fn tls() -> Result<(String, TlsAcceptor), Failure> {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let key = rustls::pki_types::PrivateKeyDer::try_from(issued.signing_key.serialize_der())?;
    let mut config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((issued.cert.pem(), Arc::new(config).into()))
}

fn json(status: u16, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        "x-request-id",
        HeaderValue::from_static("7f8de02c5c4e4cf0a6b5"),
    );
    response
}
