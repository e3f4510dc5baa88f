//! Connections that speak HTTP/2: each stream is a request with its step.

use std::future::poll_fn;
use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response};
use tokio::io::BufReader;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::serve::{Counted, note};
use super::step::{Act, Last, Step, Then};
use super::write::PATIENCE;
use super::{Seen, Shared, lock};

/// What the streams of a connection share.
struct Wire {
    number: usize,
    socket: TcpStream,
    /// The next request finds the connection closed.
    closes_on_reuse: AtomicBool,
    shared: Arc<Shared>,
}

pub(super) async fn serve(
    stream: BufReader<tokio::net::TcpStream>,
    socket: TcpStream,
    number: usize,
    shared: &Arc<Shared>,
) -> io::Result<()> {
    let wire = Arc::new(Wire {
        number,
        socket,
        closes_on_reuse: AtomicBool::new(false),
        shared: Arc::clone(shared),
    });
    let mut connection = h2::server::handshake(stream)
        .await
        .map_err(io::Error::other)?;
    // They end with the connection.
    let mut streams = JoinSet::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let wire = Arc::clone(&wire);
        streams.spawn(async move {
            let _open = Counted::new(&wire.shared.open);
            // As with connections: that the client leaves is no failure.
            let _ = answer(request, respond, &wire).await;
        });
    }
    Ok(())
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    wire: &Wire,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let Some(seen) = Seen::receive(request, wire.number).await else {
        return Ok(());
    };
    if wire.closes_on_reuse.load(Ordering::Relaxed) {
        lock(&wire.shared.requests).push(seen);
        return Ok(wire.socket.shutdown(Shutdown::Both)?);
    }
    let id = u32::from(respond.stream_id());
    let step = note(seen, &wire.shared);
    if step.held {
        tokio::select! {
            permit = wire.shared.gate.acquire() => permit?.forget(),
            reset = poll_fn(|context| respond.poll_reset(context)) => return Ok(reset.map(drop)?),
        }
    }
    match &step.act {
        Act::Stall => drop(poll_fn(|context| respond.poll_reset(context)).await?),
        Act::Reset => respond.send_reset(Reason::INTERNAL_ERROR),
        Act::Refuse => respond.send_reset(Reason::REFUSED_STREAM),
        Act::Close => wire.socket.shutdown(Shutdown::Both)?,
        Act::GoAway(Last::Before) => {
            wire.go_away(id.saturating_sub(2))?;
            // The client leaves by itself.
            poll_fn(|context| respond.poll_reset(context)).await?;
        }
        Act::GoAway(Last::This) => {
            wire.go_away(id)?;
            wire.cut().await?;
        }
        Act::Raw(bytes) => {
            (&wire.socket).write_all(bytes)?;
            wire.cut().await?;
        }
        Act::Trickle(pause) => {
            // A reply that is always about to come, as long as the client is there.
            let interim = || Response::builder().status(102).body(());
            while respond.send_informational(interim()?).is_ok() {
                sleep(*pause).await;
            }
        }
        _ => reply(&step, &mut respond, wire).await?,
    }
    Ok(())
}

/// Sends a head and what there is of a body.
async fn reply(
    step: &Step,
    respond: &mut SendResponse<Bytes>,
    wire: &Wire,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let announced = match step.act {
        Act::Unended => None,
        Act::Endless(announced) => announced,
        Act::Promise(announced) => Some(announced),
        _ => Some(step.body.len() as u64),
    };
    let mut head = Response::builder().status(step.status);
    for (name, value) in &step.headers {
        head = head.header(name, value);
    }
    if let Some(length) = announced {
        head = head.header("content-length", length);
    }
    match step.then {
        Then::KeepAlive => {}
        Then::CloseOnReuse => wire.closes_on_reuse.store(true, Ordering::Relaxed),
        // Before the reply, so that no request comes in between.
        Then::End => wire.go_away(respond.stream_id().into())?,
    }
    let mut stream = respond.send_response(head.body(())?, false)?;
    match &step.act {
        Act::Cut(bytes) => {
            wire.send(&mut stream, &step.body[..(*bytes).min(step.body.len())])?;
            // What is not out yet when a stream is reset never gets out.
            sleep(BRIEF).await;
            stream.send_reset(Reason::INTERNAL_ERROR);
        }
        Act::Unended => {
            wire.send(&mut stream, &step.body)?;
            wire.cut().await?;
        }
        Act::Drip(pause) => {
            for byte in &step.body {
                wire.send(&mut stream, std::slice::from_ref(byte))?;
                sleep(*pause).await;
            }
            stream.send_data(Bytes::new(), true)?;
        }
        Act::Endless(_) => endless(&mut stream, wire).await?,
        Act::Promise(_) => {
            for _ in 0..2 {
                wire.send(&mut stream, &[b' '; 1024])?;
                sleep(BRIEF).await;
            }
            wire.cut().await?;
        }
        _ => {
            wire.send(&mut stream, &step.body)?;
            stream.send_data(Bytes::new(), true)?;
        }
    }
    Ok(())
}

/// Sends as fast as the client lets it.
async fn endless(stream: &mut SendStream<Bytes>, wire: &Wire) -> Result<(), h2::Error> {
    let mut sent = 0;
    while sent < PATIENCE {
        stream.reserve_capacity(64 * 1024);
        let Some(room) = poll_fn(|context| stream.poll_capacity(context)).await else {
            return Ok(());
        };
        let room = room?;
        wire.send(stream, &vec![b' '; room])?;
        sent += room;
    }
    Ok(())
}

/// Until what was written is out.
const BRIEF: Duration = Duration::from_millis(5);

impl Wire {
    fn send(&self, stream: &mut SendStream<Bytes>, bytes: &[u8]) -> Result<(), h2::Error> {
        self.shared
            .written
            .fetch_add(bytes.len(), Ordering::Relaxed);
        stream.send_data(Bytes::copy_from_slice(bytes), false)
    }

    /// Ends the connection once what was written is out.
    async fn cut(&self) -> io::Result<()> {
        sleep(BRIEF).await;
        self.socket.shutdown(Shutdown::Both)
    }

    /// Sends a GOAWAY without an error, with the last stream that may be processed. The library only ever says the newest.
    fn go_away(&self, last: u32) -> io::Result<()> {
        let mut frame = vec![0, 0, 8, 7, 0, 0, 0, 0, 0];
        frame.extend(last.to_be_bytes());
        frame.extend([0; 4]);
        (&self.socket).write_all(&frame)
    }
}
