//! Sends responses, complete or partial.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::Shared;
use super::step::{Act, Step, Then};

/// The limit of an endless body. A client that reads this much has failed its test.
const PATIENCE: usize = 256 * 1024 * 1024;

/// The time until written data is sent and read separately.
pub(super) const BRIEF: Duration = Duration::from_millis(5);

/// The result of sending. In many scripts, the client disconnects early, so errors are ignored.
pub(super) type Sent = Result<(), Box<dyn Error + Send + Sync>>;

/// The way in which a protocol sends a response.
pub(super) trait Line {
    /// Sends the head, with this length or without a length.
    async fn head(&mut self, step: &Step, length: Option<u64>) -> Sent;

    /// Sends the head as slowly as the protocol allows.
    async fn slow_head(&mut self, step: &Step, pause: Duration) -> Sent;

    async fn send(&mut self, piece: &[u8]) -> Sent;

    async fn end(&mut self) -> Sent;
}

/// Sends a response as far as its step says.
pub(super) async fn reply(line: &mut impl Line, step: &Step) -> Sent {
    let body = &step.body;
    let length = Some(body.len() as u64);
    match step.act {
        Act::Cut(bytes) => {
            line.head(step, length).await?;
            line.send(&body[..bytes.min(body.len())]).await
        }
        Act::Unended => {
            line.head(step, None).await?;
            line.send(body).await
        }
        Act::Drip(pause) | Act::Trickle(pause) => {
            match step.act {
                Act::Trickle(_) => line.slow_head(step, pause).await?,
                _ => line.head(step, length).await?,
            }
            for byte in body {
                line.send(std::slice::from_ref(byte)).await?;
                sleep(pause).await;
            }
            line.end().await
        }
        Act::Endless(announced) => {
            line.head(step, announced).await?;
            let spaces = vec![b' '; 64 * 1024];
            for _ in 0..PATIENCE / spaces.len() {
                line.send(&spaces).await?;
            }
            Ok(())
        }
        Act::Promise(announced) => {
            line.head(step, Some(announced)).await?;
            // Sends two pieces, so that the client reads them separately.
            for _ in 0..2 {
                line.send(&[b' '; 1024]).await?;
                sleep(BRIEF).await;
            }
            Ok(())
        }
        _ => {
            line.head(step, length).await?;
            line.send(body).await?;
            line.end().await
        }
    }
}

/// An HTTP/1.1 connection.
pub(super) struct One<'a> {
    pub(super) stream: &'a mut BufReader<TcpStream>,
    pub(super) shared: &'a Shared,
    /// A head that is sent together with the beginning of its body.
    pub(super) head: String,
    pub(super) chunked: bool,
}

impl One<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Sent {
        self.stream.write_all(bytes).await?;
        self.shared
            .written
            .fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(())
    }
}

impl Line for One<'_> {
    async fn head(&mut self, step: &Step, length: Option<u64>) -> Sent {
        let mut head = format!("HTTP/1.1 {} {}\r\n", step.status, step.reason);
        for (name, value) in &step.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if step.then == Then::End {
            head.push_str("connection: close\r\n");
        }
        let framing = match length {
            Some(length) => format!("content-length: {length}"),
            None => "transfer-encoding: chunked".to_owned(),
        };
        let _ = write!(head, "{framing}\r\n\r\n");
        (self.head, self.chunked) = (head, length.is_none());
        Ok(())
    }

    async fn slow_head(&mut self, step: &Step, pause: Duration) -> Sent {
        self.head(step, Some(step.body.len() as u64)).await?;
        for byte in std::mem::take(&mut self.head).as_bytes() {
            self.write(std::slice::from_ref(byte)).await?;
            sleep(pause).await;
        }
        Ok(())
    }

    async fn send(&mut self, piece: &[u8]) -> Sent {
        let mut bytes = std::mem::take(&mut self.head).into_bytes();
        if self.chunked {
            bytes.extend(format!("{:x}\r\n", piece.len()).as_bytes());
            bytes.extend(piece);
            bytes.extend(b"\r\n");
        } else {
            bytes.extend(piece);
        }
        self.write(&bytes).await
    }

    async fn end(&mut self) -> Sent {
        let head = std::mem::take(&mut self.head);
        self.write(head.as_bytes()).await
    }
}
