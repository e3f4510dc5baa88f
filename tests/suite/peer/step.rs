//! What the peer does with one request, and which step follows which.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use sdk_core::transport::ReplyBody;
use serde_json::{Value, json};

/// A reply, how much of it is sent and how, and what becomes of the connection.
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

/// How the reply is sent.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Whole, with its length.
    Whole,
    /// Announced whole, and broken off after so many bytes of the body: by the end of the connection, or of the stream.
    Cut(usize),
    /// In chunks, without the last one; over HTTP/2, without the end of the stream. Then the connection ends.
    Unended,
    /// Body byte by byte, with a pause after each.
    Drip(Duration),
    /// Everything byte by byte, the head too; over HTTP/2, interim replies instead of the head.
    Trickle(Duration),
    /// A head, and then a body without an end; announced as so long, or in chunks.
    Endless(Option<u64>),
    /// A head that announces so long a body, and two small pieces of it.
    Promise(u64),
    /// These bytes, and nothing else.
    Raw(Vec<u8>),
    /// Nothing, ever.
    Stall,
    /// Nothing, and the connection is closed.
    Close,
    /// Nothing, and the connection is reset; over HTTP/2, the stream by an internal error.
    Reset,
    /// Nothing, and the stream is refused.
    Refuse,
    /// Nothing, and the connection goes away; this stream is the last one that it processes, or comes too late.
    GoAway(Last),
}

/// What the GOAWAY of a connection says of the stream that it comes upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// It may be processed. The connection then ends without a reply.
    This,
    /// It is not processed.
    Before,
}

/// What becomes of the connection after a whole reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It waits for the next request.
    KeepAlive,
    /// It looks like that, and is closed once the next request has come.
    CloseOnReuse,
    /// It says that it ends with the reply, and does; over HTTP/2, by a GOAWAY.
    End,
}

/// A whole reply without a body.
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

/// A whole JSON reply.
pub(crate) fn json(status: u16, body: &Value) -> Step {
    reply(status)
        .header("content-type", "application/json")
        .body(body.to_string())
}

/// A reply of the token endpoint.
pub(crate) fn token(text: &str) -> Step {
    let token = json!({"access_token": text, "token_type": "Bearer", "expires_in": 300});
    json(200, &token)
}

/// A redirect to `location`.
pub(crate) fn redirect(status: u16, location: impl Into<String>) -> Step {
    reply(status).header("location", location)
}

/// A 200 whose body never ends; it says that it is so long, or nothing about it.
pub(crate) fn endless(announced: Option<u64>) -> Step {
    doing(Act::Endless(announced)).header("content-type", "application/json")
}

/// About `megabytes` of zeros, as gzip, in less than a hundredth of that.
///
/// It needs no compressor. In a deflate block with fixed codes, "258 bytes as one byte ago" is 13 bits, so eight of them are
/// 13 bytes. The block has no end, which no client gets to.
pub(crate) fn gzip_bomb(megabytes: usize) -> Vec<u8> {
    const EIGHT_TIMES: [u8; 13] = [163, 96, 20, 140, 130, 81, 48, 10, 70, 193, 40, 24, 5];
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // The last block, one literal zero, and 258 more.
    bomb.extend([99, 24, 5]);
    bomb.extend(EIGHT_TIMES.repeat(megabytes * 1024 * 1024 / (8 * 258)));
    bomb
}

/// Bytes that need not be HTTP, and the end of the connection.
pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Step {
    doing(Act::Raw(bytes.into()))
}

/// No answer at all, on a connection that stays open.
pub(crate) fn stall() -> Step {
    doing(Act::Stall)
}

/// The connection is closed once the request has been read.
pub(crate) fn close() -> Step {
    doing(Act::Close)
}

/// The stream is refused once the request has been read: the server says that it did nothing with it. Only HTTP/2 has it.
pub(crate) fn refuse() -> Step {
    doing(Act::Refuse)
}

/// The server goes away once the request has been read, and says whether that was processed. Only HTTP/2 has it.
pub(crate) fn go_away(last: Last) -> Step {
    doing(Act::GoAway(last))
}

/// The connection is reset once the request has been read; over HTTP/2, its stream.
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

    /// The whole reply, of a service in memory.
    pub(crate) fn in_memory(self) -> Response<ReplyBody> {
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

    /// Announces the whole body and breaks off after so many bytes of it.
    pub(crate) fn cut_at(self, bytes: usize) -> Self {
        self.acting(Act::Cut(bytes))
    }

    /// Promises what it does, and breaks off after two small pieces.
    pub(crate) fn cut_short(self) -> Self {
        let Act::Endless(announced) = self.act else {
            panic!("only an endless body is cut short")
        };
        self.acting(Act::Promise(announced.unwrap_or_default()))
    }

    /// Sends the body in chunks and breaks off before the one that ends it.
    pub(crate) fn unended(self) -> Self {
        self.acting(Act::Unended)
    }

    /// Sends the body byte by byte, so that no wait for the next byte is long.
    pub(crate) fn dripped(self, pause: Duration) -> Self {
        self.acting(Act::Drip(pause))
    }

    /// Sends everything byte by byte, from the status line on.
    pub(crate) fn slow_headers(self, pause: Duration) -> Self {
        self.acting(Act::Trickle(pause))
    }

    /// Keeps the connection open, to close it under the next request.
    pub(crate) fn close_on_reuse(self) -> Self {
        Self {
            then: Then::CloseOnReuse,
            ..self
        }
    }

    /// Ends the connection with the reply, in all form.
    pub(crate) fn last(self) -> Self {
        Self {
            then: Then::End,
            ..self
        }
    }

    /// Waits for [`Peer::release`](super::Peer::release) before anything is sent.
    pub(crate) fn held(self) -> Self {
        Self { held: true, ..self }
    }
}

/// The steps for requests, and those for token exchanges, in the order in which they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    steps: VecDeque<Step>,
    rest: Option<Step>,
    tokens: VecDeque<Step>,
    tokens_rest: Option<Step>,
    issued: u32,
}

/// A script of steps taken in order.
pub(crate) fn script(steps: impl IntoIterator<Item = Step>) -> Script {
    Script {
        steps: steps.into_iter().collect(),
        ..Script::default()
    }
}

/// A script that does the same with every request.
pub(crate) fn always(step: Step) -> Script {
    script([]).then_always(step)
}

impl<const N: usize> From<[Step; N]> for Script {
    fn from(steps: [Step; N]) -> Self {
        script(steps)
    }
}

impl Script {
    /// What happens with every request after the steps.
    pub(crate) fn then_always(mut self, step: Step) -> Self {
        self.rest = Some(step);
        self
    }

    /// What happens with the first token exchanges; later ones are answered with a token.
    pub(crate) fn tokens(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.tokens.extend(steps);
        self
    }

    /// What happens with every token exchange after those steps.
    pub(crate) fn tokens_always(mut self, step: Step) -> Self {
        self.tokens_rest = Some(step);
        self
    }

    /// The step for the next request. One that nobody wrote is an answer that no test expects.
    pub(super) fn next(&mut self) -> Step {
        self.steps
            .pop_front()
            .or_else(|| self.rest.clone())
            .unwrap_or_else(|| reply(404).body("the script has ended"))
    }

    /// The step for the next token exchange: tokens `t-1`, `t-2` and so on for 300 seconds.
    pub(super) fn next_token(&mut self) -> Step {
        if let Some(step) = self.tokens.pop_front().or_else(|| self.tokens_rest.clone()) {
            return step;
        }
        self.issued += 1;
        token(&format!("t-{}", self.issued))
    }
}
