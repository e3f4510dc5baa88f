//! Connections: one request after another, each with its step.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::step::{Act, Step, Then, reply};
use super::{Seen, Shared, lock, write};

/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let number = shared.accepted.fetch_add(1, Ordering::Relaxed) + 1;
        shared.open.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            // That the client goes away in the middle is what many scripts are about.
            let _ = connection(BufReader::new(stream), number, &shared).await;
            shared.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn connection(
    mut stream: BufReader<TcpStream>,
    number: usize,
    shared: &Shared,
) -> io::Result<()> {
    stream.get_ref().set_nodelay(true)?;
    if stream.fill_buf().await?.first() == Some(&HANDSHAKE) {
        // Plain text where TLS is expected.
        return stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    }
    while let Some(seen) = Seen::read(&mut stream, number).await? {
        let step = note(seen, shared);
        if step.held {
            tokio::select! {
                permit = shared.gate.acquire() => permit.expect("the gate is never closed").forget(),
                () = gone(&mut stream) => return Ok(()),
            }
        }
        match step.act {
            Act::Stall => {
                gone(&mut stream).await;
                return Ok(());
            }
            Act::Close => return Ok(()),
            Act::Reset => return stream.get_ref().set_zero_linger(),
            Act::Whole => write::whole(&mut stream, &step, shared).await?,
            _ => return write::odd(&mut stream, &step, shared).await,
        }
        if step.then == Then::CloseOnReuse {
            if let Some(seen) = Seen::read(&mut stream, number).await? {
                lock(&shared.requests).push(seen);
            }
            return Ok(());
        }
    }
    Ok(())
}

/// Writes the request down and takes the step for it.
fn note(seen: Seen, shared: &Shared) -> Step {
    let mut script = lock(&shared.script);
    let accepted = lock(&shared.accepted_token);
    let refused = accepted.is_some() && seen.bearer() != accepted.as_deref();
    let (list, step) = if seen.is_exchange() {
        (&shared.exchanges, script.next_token())
    } else if refused {
        (&shared.requests, reply(401))
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
