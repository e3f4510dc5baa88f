//! A wire that breaks at any byte: forwards to a server, and at some point holds everything or resets the connection.

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::support::apart;

/// Which bytes are counted: those of requests, or those of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// What happens once so many bytes have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing passes any more, and the connection stays open.
    Hold,
    /// The client's connection is reset.
    Reset,
}

/// A proxy on a free port of loopback, on a thread and a runtime of its own, until it is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
}

struct Shared {
    target: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    trip: Option<Trip>,
    tripped: bool,
    /// Bytes that have passed, up and down.
    passed: [usize; 2],
}

#[derive(Clone, Copy)]
struct Trip {
    way: Way,
    left: usize,
    then: Then,
}

impl Proxy {
    /// Forwards to an origin such as `http://127.0.0.1:4010`.
    pub(crate) fn start(origin: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            target: origin.trim_start_matches("http://").to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let wire = Arc::clone(&shared);
        let stop = apart(move || async move {
            accept(TcpListener::from_std(listener).unwrap(), wire).await;
        });
        Self {
            address,
            shared,
            _stop: stop,
        }
    }

    /// Its origin, without a trailing slash.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Breaks the wire, once, as soon as so many more bytes have passed that way.
    pub(crate) fn break_after(&self, bytes: usize, way: Way, then: Then) {
        let mut state = self.shared.state();
        state.tripped = false;
        state.trip = Some(Trip {
            way,
            left: bytes,
            then,
        });
    }

    /// Waits until the wire is broken, or says that it was not by then.
    pub(crate) fn broke_within(&self, patience: Duration) -> bool {
        let state = self.shared.state();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, patience, |state| !state.tripped);
        waited.unwrap_or_else(PoisonError::into_inner).0.tripped
    }

    /// How many bytes have passed so far.
    pub(crate) fn passed(&self, way: Way) -> usize {
        self.shared.state().passed[way as usize]
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of so many bytes may pass, and what happens then.
    fn pass(&self, way: Way, bytes: usize) -> (usize, Option<Then>) {
        let mut state = self.state();
        let (allowed, then) = match &mut state.trip {
            Some(trip) if trip.way == way && trip.left <= bytes => (trip.left, Some(trip.then)),
            Some(trip) if trip.way == way => {
                trip.left -= bytes;
                (bytes, None)
            }
            _ => (bytes, None),
        };
        if then.is_some() {
            state.trip = None;
        }
        state.passed[way as usize] += allowed;
        (allowed, then)
    }

    fn tripped(&self) {
        self.state().tripped = true;
        self.changed.notify_all();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(connection(client, Arc::clone(&shared)));
    }
}

async fn connection(mut client: TcpStream, shared: Arc<Shared>) {
    let Ok(mut server) = TcpStream::connect(&shared.target).await else {
        return;
    };
    let _ = client
        .set_nodelay(true)
        .and_then(|()| server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
    let broken = tokio::select! {
        then = pump(from_client, to_server, Way::Up, &shared) => then,
        then = pump(from_server, to_client, Way::Down, &shared) => then,
    };
    match broken {
        None => {}
        Some(Then::Reset) => {
            // Without time to linger, the end of a connection is a reset.
            let _ = client.set_zero_linger();
            drop(client);
            shared.tripped();
        }
        Some(Then::Hold) => {
            shared.tripped();
            // Until the client is gone, and with it what it had sent.
            while client.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
        }
    }
}

/// Copies until either side ends, or the wire breaks.
async fn pump(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    way: Way,
    shared: &Shared,
) -> Option<Then> {
    let mut buffer = [0; 4096];
    loop {
        let read = from.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        let (allowed, then) = shared.pass(way, read);
        to.write_all(&buffer[..allowed]).await.ok()?;
        if then.is_some() {
            return then;
        }
    }
}
