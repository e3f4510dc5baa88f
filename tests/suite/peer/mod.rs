//! A scripted TCP peer, for behavior that HTTP servers don't offer: resets, partial responses, decompression bombs,
//! silence.
//!
//! ```ignore
//! let peer = Peer::start([reply(503), json(200, PAGE).close_on_reuse()]);
//! let crm = crm_at(&peer);
//! …
//! assert_eq!(peer.requests().len(), 2);
//! ```
//!
//! Each request takes the next step of the script. The peer answers `POST /oauth/token` with a token, unless the script
//! has steps for it. The peer has its own thread and runtime, so a test can pause its clock or end its runtime.
//!
//! The peer serves HTTP/1.1, and HTTP/2 to clients that begin with its preface. Each step documents its behavior in
//! both protocols.

mod protocol;
pub(crate) mod proxy;
mod serve;
mod step;
mod streams;
mod write;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use tokio::net::TcpSocket;
use tokio::sync::{Semaphore, oneshot};

use crate::support::{apart, until};

pub(crate) use protocol::{Client, Over, Protocol, over_all, through};
pub(crate) use serve::Seen;
pub(crate) use step::{
    Last, Script, Step, always, close, endless, go_away, gzip_bomb, json, raw, redirect, refuse,
    reply, reset, script, stall, token,
};

/// A peer that listens on a free loopback port until it is dropped.
pub(crate) struct Peer {
    address: SocketAddr,
    over: Over,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
}

/// The state that the connections share with the test.
struct Shared {
    script: Mutex<Script>,
    requests: Mutex<Vec<Seen>>,
    exchanges: Mutex<Vec<Seen>>,
    /// The number of accepted connections.
    accepted: AtomicUsize,
    /// The number of open connections.
    connected: AtomicUsize,
    /// The number of open HTTP/1.1 connections and of open streams on HTTP/2 connections.
    open: AtomicUsize,
    /// The number of written bytes.
    written: AtomicUsize,
    /// One permit for each held response that may be sent.
    gate: Semaphore,
}

impl Peer {
    pub(crate) fn start(script: impl Into<Script>) -> Self {
        Reserved::new().open(Over::DEFAULT, script)
    }

    pub(crate) fn over(&self) -> Over {
        self.over
    }

    /// Returns its origin, without a trailing slash.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the received requests in order, without token requests.
    pub(crate) fn requests(&self) -> Vec<Seen> {
        lock(&self.shared.requests).clone()
    }

    pub(crate) fn exchanges(&self) -> Vec<Seen> {
        lock(&self.shared.exchanges).clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    pub(crate) fn written(&self) -> usize {
        self.shared.written.load(Ordering::Relaxed)
    }

    /// Allows `replies` held responses to be sent.
    pub(crate) fn release(&self, replies: usize) {
        self.shared.gate.add_permits(replies);
    }

    /// Waits until it has received `requests` requests, not counting token requests.
    pub(crate) async fn saw(&self, requests: usize) {
        until(|| self.requests().len() >= requests).await;
    }

    /// Waits until at most `most` connections (or HTTP/2 streams) are open.
    pub(crate) async fn has_open(&self, most: usize) {
        until(|| self.shared.open.load(Ordering::Relaxed) <= most).await;
    }

    /// Waits until all connections are closed.
    pub(crate) async fn is_left(&self) {
        until(|| self.shared.connected.load(Ordering::Relaxed) == 0).await;
    }
}

/// A port that refuses connections until it is opened.
pub(crate) struct Reserved {
    socket: TcpSocket,
    address: SocketAddr,
}

impl Reserved {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        // Binding reserves the port. Without listening, connections are refused.
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = socket.local_addr().unwrap();
        Self { socket, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn open(self, over: Over, script: impl Into<Script>) -> Peer {
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into()),
            requests: Mutex::default(),
            exchanges: Mutex::default(),
            accepted: AtomicUsize::new(0),
            connected: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
            gate: Semaphore::new(0),
        });
        let (ready, listening) = mpsc::channel();
        let (socket, seen) = (self.socket, Arc::clone(&shared));
        let stop = apart(move || async move {
            let listener = socket.listen(1024).unwrap();
            ready.send(()).unwrap();
            serve::accept(listener, seen).await;
        });
        listening.recv().unwrap();
        Peer {
            address: self.address,
            over,
            shared,
            _stop: stop,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
