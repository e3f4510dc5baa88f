//! HTTP/2 connections: each stream is a request with its step.

use std::future::poll_fn;
use std::io::Write as _;
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
use super::write::{self, BRIEF, Line, Sent};
use super::{Seen, Shared, lock};

/// The shared state of the streams of a connection.
struct Wire {
    number: usize,
    socket: TcpStream,
    /// Whether the connection closes when the next request arrives.
    closes_on_reuse: AtomicBool,
    shared: Arc<Shared>,
}

pub(super) async fn serve(
    stream: BufReader<tokio::net::TcpStream>,
    socket: TcpStream,
    number: usize,
    shared: &Arc<Shared>,
) -> Sent {
    let wire = Arc::new(Wire {
        number,
        socket,
        closes_on_reuse: AtomicBool::new(false),
        shared: Arc::clone(shared),
    });
    let mut connection = h2::server::handshake(stream).await?;
    // Dropping the set ends the streams with the connection.
    let mut streams = JoinSet::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let wire = Arc::clone(&wire);
        streams.spawn(async move {
            let _open = Counted::new(&wire.shared.open);
            let _ = answer(request, respond, &wire).await;
        });
    }
    Ok(())
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    wire: &Wire,
) -> Sent {
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
            // The client resets the stream itself.
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
        act => {
            match step.then {
                Then::KeepAlive => {}
                Then::CloseOnReuse => wire.closes_on_reuse.store(true, Ordering::Relaxed),
                // The GOAWAY precedes the response, so that no request arrives in between.
                Then::End => wire.go_away(id)?,
            }
            let mut line = Two {
                respond: &mut respond,
                stream: None,
                wire,
            };
            write::reply(&mut line, &step).await?;
            match act {
                Act::Unended | Act::Promise(_) => wire.cut().await?,
                Act::Cut(_) => {
                    // A reset discards unsent data.
                    sleep(BRIEF).await;
                    respond.send_reset(Reason::INTERNAL_ERROR);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// A stream of an HTTP/2 connection.
struct Two<'a> {
    respond: &'a mut SendResponse<Bytes>,
    stream: Option<SendStream<Bytes>>,
    wire: &'a Wire,
}

impl Line for Two<'_> {
    async fn head(&mut self, step: &Step, length: Option<u64>) -> Sent {
        let mut head = Response::builder().status(step.status);
        for (name, value) in &step.headers {
            head = head.header(name, value);
        }
        if let Some(length) = length {
            head = head.header("content-length", length);
        }
        self.stream = Some(self.respond.send_response(head.body(())?, false)?);
        Ok(())
    }

    /// Sends interim responses while the client waits, and never the final response.
    async fn slow_head(&mut self, _: &Step, pause: Duration) -> Sent {
        loop {
            let interim = Response::builder().status(102).body(())?;
            self.respond.send_informational(interim)?;
            sleep(pause).await;
        }
    }

    /// Sends as fast as the client's flow control allows.
    async fn send(&mut self, mut piece: &[u8]) -> Sent {
        let stream = self.stream.as_mut().ok_or("no head")?;
        while !piece.is_empty() {
            stream.reserve_capacity(piece.len());
            let room = poll_fn(|context| stream.poll_capacity(context)).await;
            let (now, later) = piece.split_at(room.ok_or("the stream is closed")??);
            stream.send_data(Bytes::copy_from_slice(now), false)?;
            self.wire
                .shared
                .written
                .fetch_add(now.len(), Ordering::Relaxed);
            piece = later;
        }
        Ok(())
    }

    async fn end(&mut self) -> Sent {
        let stream = self.stream.as_mut().ok_or("no head")?;
        Ok(stream.send_data(Bytes::new(), true)?)
    }
}

impl Wire {
    /// Ends the connection after the written data is sent.
    async fn cut(&self) -> Sent {
        sleep(BRIEF).await;
        Ok(self.socket.shutdown(Shutdown::Both)?)
    }

    /// Sends a GOAWAY without an error, whose last stream is `last`. The library can only name the newest stream.
    fn go_away(&self, last: u32) -> Sent {
        let mut frame = vec![0, 0, 8, 7, 0, 0, 0, 0, 0];
        frame.extend(last.to_be_bytes());
        frame.extend([0; 4]);
        Ok((&self.socket).write_all(&frame)?)
    }
}
