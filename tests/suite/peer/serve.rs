//! HTTP/1.1 connections: one request after another, each with its step.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use h2::RecvStream;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::step::{Act, Step, Then};
use super::write::{self, One, Sent};
use super::{Shared, lock, streams};

/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

/// The beginning of an HTTP/2 connection.
const PREFACE: &[u8] = b"PRI ";

pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let number = shared.accepted.fetch_add(1, Ordering::Relaxed) + 1;
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _connected = Counted::new(&shared.connected);
            let _ = connection(stream, number, &shared).await;
        });
    }
}

/// A counter that is incremented during its lifetime.
pub(super) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    pub(super) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn connection(stream: TcpStream, number: usize, shared: &Arc<Shared>) -> Sent {
    stream.set_nodelay(true)?;
    // A second handle, for writes that bypass the HTTP/2 library.
    let stream = stream.into_std()?;
    let socket = stream.try_clone()?;
    let mut stream = BufReader::new(TcpStream::from_std(stream)?);
    let first = stream.fill_buf().await?;
    if first.starts_with(PREFACE) {
        return streams::serve(stream, socket, number, shared).await;
    }
    drop(socket);
    if first.first() == Some(&HANDSHAKE) {
        // The client uses TLS, but the server answers in plain HTTP.
        return Ok(stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await?);
    }
    let _open = Counted::new(&shared.open);
    while let Some(seen) = Seen::read(&mut stream, number).await? {
        let step = note(seen, shared);
        if step.held {
            tokio::select! {
                permit = shared.gate.acquire() => permit.expect("the gate is never closed").forget(),
                () = gone(&mut stream) => return Ok(()),
            }
        }
        match &step.act {
            Act::Stall => {
                gone(&mut stream).await;
                return Ok(());
            }
            Act::Close => return Ok(()),
            Act::Refuse | Act::GoAway(_) => panic!("only HTTP/2 has this step"),
            Act::Reset => return Ok(stream.get_ref().set_zero_linger()?),
            Act::Raw(bytes) => return Ok(stream.write_all(bytes).await?),
            _ => {
                let mut line = One {
                    stream: &mut stream,
                    shared,
                    head: String::new(),
                    chunked: false,
                };
                write::reply(&mut line, &step).await?;
            }
        }
        if !matches!(step.act, Act::Whole) {
            return Ok(());
        }
        if step.then != Then::KeepAlive {
            if step.then == Then::CloseOnReuse
                && let Some(seen) = Seen::read(&mut stream, number).await?
            {
                lock(&shared.requests).push(seen);
            }
            return Ok(());
        }
    }
    Ok(())
}

/// Records the request and returns its step.
pub(super) fn note(seen: Seen, shared: &Shared) -> Step {
    let mut script = lock(&shared.script);
    let (list, step) = if seen.is_exchange() {
        (&shared.exchanges, script.next_token())
    } else {
        (&shared.requests, script.next())
    };
    lock(list).push(seen);
    step
}

/// Waits until the client has closed the connection.
async fn gone(stream: &mut BufReader<TcpStream>) {
    while matches!(stream.read_u8().await, Ok(_more)) {}
}

/// A request that the peer has read completely.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The number of the connection, starting with 1.
    pub(crate) connection: usize,
    pub(crate) method: String,
    /// Path and query as received.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// Reads a request. Returns `None` if the connection ends before a request begins.
    pub(super) async fn read(
        stream: &mut BufReader<TcpStream>,
        connection: usize,
    ) -> io::Result<Option<Self>> {
        let Some(first) = line(stream).await? else {
            return Ok(None);
        };
        let mut words = first.split(' ').map(str::to_owned);
        let mut seen = Self {
            connection,
            method: words.next().unwrap_or_default(),
            target: words.next().unwrap_or_default(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        while let Some(header) = line(stream).await?.filter(|header| !header.is_empty()) {
            let (name, value) = header.split_once(": ").unwrap_or((&header, ""));
            seen.headers
                .push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = seen
            .header("content-length")
            .map_or(0, |text| text.parse().unwrap());
        seen.body.resize(length, 0);
        stream.read_exact(&mut seen.body).await?;
        Ok(Some(seen))
    }

    /// Receives a request on a stream. Returns `None` if the stream is reset.
    pub(super) async fn receive(
        request: http::Request<RecvStream>,
        connection: usize,
    ) -> Option<Self> {
        let (head, mut stream) = request.into_parts();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into();
        let headers = head.headers.iter();
        let mut seen = Self {
            connection,
            method: head.method.to_string(),
            target: head.uri.path_and_query()?.to_string(),
            headers: headers
                .map(|(name, value)| (name.to_string(), text(value)))
                .collect(),
            body: Vec::new(),
        };
        while let Some(piece) = stream.data().await {
            let piece = piece.ok()?;
            stream.flow_control().release_capacity(piece.len()).ok()?;
            seen.body.extend_from_slice(&piece);
        }
        Some(seen)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.header("idempotency-key")
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(super) fn is_exchange(&self) -> bool {
        self.target.split('?').next() == Some("/oauth/token")
    }
}

/// Reads a line without its end. Returns `None` at the end of the stream.
async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if stream.read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
}
