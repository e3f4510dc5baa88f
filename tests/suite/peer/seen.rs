//! A request as it came over the wire.

use std::io;

use h2::RecvStream;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;

/// A request that the peer read whole.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The number of the connection, from one.
    pub(crate) connection: usize,
    pub(crate) method: String,
    /// Path and query, as they came.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// Reads a request; `None` when the connection ends before one begins.
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

    /// Receives a request on a stream; `None` when it breaks off.
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

    /// The value of a header, if it came.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// The bearer token it came with.
    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    /// The idempotency key it came with.
    pub(crate) fn key(&self) -> Option<&str> {
        self.header("idempotency-key")
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(super) fn is_exchange(&self) -> bool {
        self.target.split('?').next() == Some("/oauth/token")
    }
}

/// A line without its end; `None` at the end of the stream.
async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if stream.read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
}
