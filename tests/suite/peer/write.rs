//! Replies on their way out, whole and otherwise.

use std::fmt::Write as _;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::Shared;
use super::step::{Act, Step, Then};

type Stream = BufReader<TcpStream>;

/// No endless body is longer than this: a client that reads on has failed the test long before.
pub(super) const PATIENCE: usize = 256 * 1024 * 1024;

/// Sends a reply as any server would.
pub(super) async fn whole(stream: &mut Stream, step: &Step, shared: &Shared) -> io::Result<()> {
    let mut reply = head(step, Some(step.body.len() as u64)).into_bytes();
    reply.extend_from_slice(&step.body);
    send(stream, &reply, shared).await
}

/// Sends a reply as no server should; the connection is over after it.
pub(super) async fn odd(stream: &mut Stream, step: &Step, shared: &Shared) -> io::Result<()> {
    let length = Some(step.body.len() as u64);
    match &step.act {
        Act::Cut(bytes) => {
            let head = head(step, length);
            send(stream, head.as_bytes(), shared).await?;
            send(stream, &step.body[..(*bytes).min(step.body.len())], shared).await
        }
        Act::Unended => {
            let chunk = format!("{}{:x}\r\n", head(step, None), step.body.len());
            send(stream, chunk.as_bytes(), shared).await?;
            send(stream, &step.body, shared).await?;
            send(stream, b"\r\n", shared).await
        }
        Act::Drip(pause) => {
            send(stream, head(step, length).as_bytes(), shared).await?;
            drip(stream, &step.body, *pause, shared).await
        }
        Act::Trickle(pause) => {
            drip(stream, head(step, length).as_bytes(), *pause, shared).await?;
            drip(stream, &step.body, *pause, shared).await
        }
        Act::Endless(announced) => endless(stream, step, *announced, shared).await,
        Act::Promise(announced) => {
            send(stream, head(step, Some(*announced)).as_bytes(), shared).await?;
            // Two pieces, so that they are read as two.
            for _ in 0..2 {
                send(stream, &[b' '; 1024], shared).await?;
                sleep(Duration::from_millis(5)).await;
            }
            Ok(())
        }
        Act::Raw(bytes) => send(stream, bytes, shared).await,
        Act::Whole | Act::Stall | Act::Close | Act::Reset | Act::Refuse | Act::GoAway(_) => Ok(()),
    }
}

async fn endless(
    stream: &mut Stream,
    step: &Step,
    announced: Option<u64>,
    shared: &Shared,
) -> io::Result<()> {
    send(stream, head(step, announced).as_bytes(), shared).await?;
    let spaces = vec![b' '; 64 * 1024];
    let mut sent = 0;
    while sent < PATIENCE {
        if announced.is_none() {
            send(stream, format!("{:x}\r\n", spaces.len()).as_bytes(), shared).await?;
        }
        send(stream, &spaces, shared).await?;
        if announced.is_none() {
            send(stream, b"\r\n", shared).await?;
        }
        sent += spaces.len();
    }
    Ok(())
}

async fn drip(
    stream: &mut Stream,
    bytes: &[u8],
    pause: Duration,
    shared: &Shared,
) -> io::Result<()> {
    for byte in bytes {
        send(stream, std::slice::from_ref(byte), shared).await?;
        sleep(pause).await;
    }
    Ok(())
}

/// Status line and headers; with a length, or in chunks.
fn head(step: &Step, length: Option<u64>) -> String {
    let mut head = format!("HTTP/1.1 {} {}\r\n", step.status, step.reason);
    let framing = match length {
        Some(length) => format!("content-length: {length}"),
        None => "transfer-encoding: chunked".to_owned(),
    };
    for (name, value) in &step.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if step.then == Then::End {
        head.push_str("connection: close\r\n");
    }
    let _ = write!(head, "{framing}\r\n\r\n");
    head
}

async fn send(stream: &mut Stream, bytes: &[u8], shared: &Shared) -> io::Result<()> {
    stream.write_all(bytes).await?;
    shared.written.fetch_add(bytes.len(), Ordering::Relaxed);
    Ok(())
}
