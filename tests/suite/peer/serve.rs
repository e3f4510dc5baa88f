//! Connections: one request after another, each with its step.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::step::{Act, Step, Then};
use super::write::{self, One, Sent};
use super::{Seen, Shared, lock, streams};

/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

/// The beginning of a connection that speaks HTTP/2.
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

/// Something that is counted as long as it lasts.
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
    // A second handle, for what the other protocol's library does not write.
    let stream = stream.into_std()?;
    let socket = stream.try_clone()?;
    let mut stream = BufReader::new(TcpStream::from_std(stream)?);
    let first = stream.fill_buf().await?;
    if first.starts_with(PREFACE) {
        return streams::serve(stream, socket, number, shared).await;
    }
    drop(socket);
    if first.first() == Some(&HANDSHAKE) {
        // Plain text where TLS is expected.
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

/// Writes the request down and takes the step for it.
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
