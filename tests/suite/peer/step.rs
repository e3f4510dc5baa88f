//! The peer's reaction to a request, and the order of the steps.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use sdk_core::transport::ResponseBody;
use serde_json::{Value, json};

/// A response, the way it is sent, and the state of the connection afterwards.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) act: Act,
    pub(super) then: Then,
    pub(super) held: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Completely, with its length.
    Whole,
    /// With its full length, but interrupted after this many bytes of the body, by the end of the connection or stream.
    Cut(usize),
    /// In chunks without the last chunk or, over HTTP/2, without the end of the stream. The connection then ends.
    Unended,
    /// The body byte by byte, with a pause after each byte.
    Drip(Duration),
    /// Everything byte by byte, including the head. Over HTTP/2, interim responses instead of the head.
    Trickle(Duration),
    /// A head and a body without an end, either with a declared length or in chunks.
    Endless(Option<u64>),
    /// A head that declares this length, and two small pieces of the body.
    Promise(u64),
    Raw(Vec<u8>),
    Stall,
    Close,
    /// No response. The connection is reset. Over HTTP/2, the stream is reset with an internal error.
    Reset,
    Refuse,
    /// No response. A GOAWAY names this stream as the last processed stream, or excludes it.
    GoAway(Last),
}

/// The position of the stream relative to a GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// The stream may be processed. The connection then ends without a response.
    This,
    /// The stream is not processed.
    Before,
}

/// The state of the connection after a complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It stays open for the next request.
    KeepAlive,
    /// It looks open, and is closed when the next request arrives.
    CloseOnReuse,
    /// It ends after the response and announces this. Over HTTP/2, with a GOAWAY.
    End,
}

/// Returns a complete response without a body.
pub(crate) fn reply(status: u16) -> Step {
    Step {
        status,
        reason: "Scripted".to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        act: Act::Whole,
        then: Then::KeepAlive,
        held: false,
    }
}

pub(crate) fn json(status: u16, body: &Value) -> Step {
    reply(status)
        .header("content-type", "application/json")
        .body(body.to_string())
}

pub(crate) fn token(text: &str) -> Step {
    let token = json!({"access_token": text, "token_type": "Bearer", "expires_in": 300});
    json(200, &token)
}

pub(crate) fn redirect(status: u16, location: impl Into<String>) -> Step {
    reply(status).header("location", location)
}

/// Returns a 200 whose body never ends, with or without a declared length.
pub(crate) fn endless(announced: Option<u64>) -> Step {
    doing(Act::Endless(announced)).header("content-type", "application/json")
}

/// Returns about `megabytes` of zeros as gzip, in less than a hundredth of that size.
///
/// This needs no compressor. In a deflate block with fixed codes, "repeat the last byte 258 times" takes 13 bits, so
/// eight repetitions take 13 bytes. The block has no end, which clients never reach.
pub(crate) fn gzip_bomb(megabytes: usize) -> Vec<u8> {
    const EIGHT_TIMES: [u8; 13] = [163, 96, 20, 140, 130, 81, 48, 10, 70, 193, 40, 24, 5];
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // The header of the last block, one literal zero, and 258 more zeros.
    bomb.extend([99, 24, 5]);
    bomb.extend(EIGHT_TIMES.repeat(megabytes * 1024 * 1024 / (8 * 258)));
    bomb
}

/// Sends bytes that need not be HTTP, and ends the connection.
pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Step {
    doing(Act::Raw(bytes.into()))
}

/// Sends no response on a connection that stays open.
pub(crate) fn stall() -> Step {
    doing(Act::Stall)
}

/// Closes the connection after reading the request.
pub(crate) fn close() -> Step {
    doing(Act::Close)
}

/// Refuses the stream after reading the request, which means that the request was not processed. HTTP/2 only.
pub(crate) fn refuse() -> Step {
    doing(Act::Refuse)
}

/// Sends a GOAWAY after reading the request, which says whether the request was processed. HTTP/2 only.
pub(crate) fn go_away(last: Last) -> Step {
    doing(Act::GoAway(last))
}

/// Resets the connection after reading the request. Over HTTP/2, resets the stream.
pub(crate) fn reset() -> Step {
    doing(Act::Reset)
}

fn doing(act: Act) -> Step {
    Step { act, ..reply(200) }
}

impl Step {
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Returns the complete response, for a service in memory.
    pub(crate) fn in_memory(self) -> Response<ResponseBody> {
        let mut head = Response::builder().status(self.status);
        for (name, value) in self.headers {
            head = head.header(name, value);
        }
        head.body(Bytes::from(self.body).into()).unwrap()
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    fn acting(self, act: Act) -> Self {
        Self { act, ..self }
    }

    /// Declares the full length and ends after `bytes` bytes of the body.
    pub(crate) fn cut_at(self, bytes: usize) -> Self {
        self.acting(Act::Cut(bytes))
    }

    /// Declares the length and ends after two small pieces.
    pub(crate) fn cut_short(self) -> Self {
        let Act::Endless(announced) = self.act else {
            panic!("`cut_short` needs an endless body")
        };
        self.acting(Act::Promise(announced.unwrap_or_default()))
    }

    /// Sends the body in chunks without the final chunk.
    pub(crate) fn unended(self) -> Self {
        self.acting(Act::Unended)
    }

    /// Sends the body byte by byte, so that the wait for the next byte is always short.
    pub(crate) fn dripped(self, pause: Duration) -> Self {
        self.acting(Act::Drip(pause))
    }

    /// Sends everything byte by byte, from the status line on.
    pub(crate) fn slow_headers(self, pause: Duration) -> Self {
        self.acting(Act::Trickle(pause))
    }

    /// Keeps the connection open and closes it when the next request arrives.
    pub(crate) fn close_on_reuse(self) -> Self {
        Self {
            then: Then::CloseOnReuse,
            ..self
        }
    }

    /// Ends the connection after the response and says so.
    pub(crate) fn last(self) -> Self {
        Self {
            then: Then::End,
            ..self
        }
    }

    /// Waits for [`Peer::release`](super::Peer::release) before sending anything.
    pub(crate) fn held(self) -> Self {
        Self { held: true, ..self }
    }
}

/// The steps for requests and for token exchanges, each in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    steps: VecDeque<Step>,
    rest: Option<Step>,
    tokens: VecDeque<Step>,
    tokens_rest: Option<Step>,
    issued: u32,
}

pub(crate) fn script(steps: impl IntoIterator<Item = Step>) -> Script {
    Script {
        steps: steps.into_iter().collect(),
        ..Script::default()
    }
}

pub(crate) fn always(step: Step) -> Script {
    script([]).then_always(step)
}

impl<const N: usize> From<[Step; N]> for Script {
    fn from(steps: [Step; N]) -> Self {
        script(steps)
    }
}

impl Script {
    /// Sets the step for every request after the scripted steps.
    pub(crate) fn then_always(mut self, step: Step) -> Self {
        self.rest = Some(step);
        self
    }

    /// Sets the steps for the first token exchanges. Later exchanges get a token.
    pub(crate) fn tokens(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.tokens.extend(steps);
        self
    }

    /// Sets the step for every token exchange after those steps.
    pub(crate) fn tokens_always(mut self, step: Step) -> Self {
        self.tokens_rest = Some(step);
        self
    }

    /// Returns the step for the next request. Requests beyond the script get a response that no test expects.
    pub(super) fn next(&mut self) -> Step {
        self.steps
            .pop_front()
            .or_else(|| self.rest.clone())
            .unwrap_or_else(|| reply(404).body("the script has ended"))
    }

    /// Returns the step for the next token exchange: tokens `t-1`, `t-2` and so on, valid for 300 seconds.
    pub(super) fn next_token(&mut self) -> Step {
        if let Some(step) = self.tokens.pop_front().or_else(|| self.tokens_rest.clone()) {
            return step;
        }
        self.issued += 1;
        token(&format!("t-{}", self.issued))
    }
}
