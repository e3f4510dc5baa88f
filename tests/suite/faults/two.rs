//! A server that speaks HTTP/2 and nothing else.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use super::fixtures::PERSON;

/// Answers every request with a person, on a thread and a runtime of its own until it is dropped.
pub(super) struct Http2 {
    address: SocketAddr,
    seen: Arc<Seen>,
    runtime: Option<tokio::runtime::Runtime>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    requests: AtomicUsize,
}

impl Http2 {
    pub(super) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        runtime.spawn(accept(listener, Arc::clone(&seen)));
        Self {
            address,
            seen,
            runtime: Some(runtime),
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::Relaxed)
    }

    pub(super) fn requests(&self) -> usize {
        self.seen.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Http2 {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: std::net::TcpListener, seen: Arc<Seen>) {
    let listener = TcpListener::from_std(listener).unwrap();
    while let Ok((stream, _)) = listener.accept().await {
        seen.connections.fetch_add(1, Ordering::Relaxed);
        let seen = Arc::clone(&seen);
        let service = service_fn(move |_request| {
            seen.requests.fetch_add(1, Ordering::Relaxed);
            async {
                let person = format!(r#"{{"publicReference": "{PERSON}"}}"#);
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(person))))
            }
        });
        let server = http2::Builder::new(TokioExecutor::new());
        tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
    }
}
