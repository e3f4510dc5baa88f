//! Answers of servers and gateways, their bodies in transit, and the record of how each request ended.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, header};
use http_body::{Body, Frame};
use serde_json::Value;
use suite_checker::{Done, Event};
use tokio::time::{Sleep, sleep};

use super::fate::Fault;
use super::stage::{Stage, micros};

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Answer {
    /// Returns the answer of a gateway. Some gateways repeat the `Authorization` header in the body.
    pub(super) fn of_gateway(status: u16, seconds: Option<u32>, authorization: &str) -> Self {
        let mut headers = HeaderMap::new();
        if let Some(seconds) = seconds {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        let body = match status {
            401 => r#"{"error":"invalid_client"}"#.to_owned(),
            503 => {
                format!(r#"{{"error":{{"code":"down","message":"try again {authorization}"}}}}"#)
            }
            _ => format!("<html>try again {authorization}</html>"),
        };
        Self {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            headers,
            body: body.into(),
        }
    }

    /// Makes a page point to itself as the next page, unless it is the last page. Returns whether the page changed.
    pub(super) fn name_next(&mut self, cursor: String) -> bool {
        let mut page = json(&self.body);
        let has_next = page["nextCursor"].is_string();
        if has_next {
            page["nextCursor"] = cursor.into();
            self.body = page.to_string().into();
            self.headers.remove(header::CONTENT_LENGTH);
        }
        has_next
    }

    /// Returns the effect of a command according to the documented fields of its result.
    pub(super) fn committed(&self) -> Done {
        let result = json(&self.body);
        let reference = reference(&result);
        let replayed = result["replayed"].as_bool();
        if replayed.unwrap_or(self.status == StatusCode::OK) {
            Done::Replayed { reference }
        } else {
            Done::Committed { reference }
        }
    }

    pub(super) fn into_response(
        mut self,
        fault: Option<Fault>,
        ticket: Ticket,
    ) -> Response<Arriving> {
        if fault == Some(Fault::Truncate) && self.body.len().is_multiple_of(2) {
            self.headers.remove(header::CONTENT_LENGTH);
        }
        // Only the head of an error response matters, and the suite has already read it.
        let fault = fault.filter(|it| self.status.is_success() || matches!(it, Fault::Replace(_)));
        let mut response = Response::new(Arriving::new(self.body, fault, ticket));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

pub(super) fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

/// Returns the record that the result of a command names.
pub(super) fn reference(result: &Value) -> String {
    let fields = ["publicReference", "subjectReference"];
    let mut named = fields.iter().filter_map(|name| result[name].as_str());
    named.next().unwrap_or_default().to_owned()
}

/// A request in flight. Dropping the ticket early records the request as abandoned.
pub(super) struct Ticket {
    stage: Arc<Stage>,
    request: u64,
    open: bool,
}

impl Ticket {
    pub(super) fn new(stage: Arc<Stage>, request: u64) -> Self {
        Self {
            stage,
            request,
            open: true,
        }
    }

    pub(super) fn broke(mut self) -> io::Error {
        let request = self.request;
        self.close(Event::Broke { request });
        io::ErrorKind::ConnectionReset.into()
    }

    fn close(&mut self, end: Event) {
        if std::mem::take(&mut self.open) {
            self.stage.record(end);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let request = self.request;
        self.close(Event::Abandoned { request });
    }
}

/// A body that arrives with its fault.
pub(super) struct Arriving {
    pieces: VecDeque<Bytes>,
    pause: Duration,
    pausing: Option<Pin<Box<Sleep>>>,
    /// Whether the body ends early, and whether the early end is an error.
    cut: bool,
    fails: bool,
    ticket: Ticket,
}

impl Arriving {
    pub(super) fn new(body: Bytes, fault: Option<Fault>, ticket: Ticket) -> Self {
        let length = body.len();
        // Half of the body, or all but the last byte.
        let half = body.slice(
            ..if length.is_multiple_of(3) {
                length.saturating_sub(1)
            } else {
                length / 2
            },
        );
        let (pieces, pause, cut) = match fault {
            Some(Fault::Drip) => {
                let piece = length / 8 + 1;
                let pieces = (0..length).step_by(piece);
                let pieces = pieces.map(|at| body.slice(at..length.min(at + piece)));
                (pieces.collect(), Duration::from_millis(700), false)
            }
            Some(Fault::Truncate | Fault::Break) => ([half].into(), Duration::ZERO, true),
            // The suite never read the server's own answer.
            Some(Fault::Replace(_)) => ([body].into(), Duration::ZERO, true),
            _ => ([body].into(), Duration::ZERO, false),
        };
        let pieces: VecDeque<Bytes> = pieces;
        let pauses = u32::try_from(pieces.len()).unwrap_or(u32::MAX) + 1;
        let (request, takes) = (ticket.request, micros(pause * pauses));
        ticket.stage.record(Event::Offered { request, takes });
        Self {
            pieces,
            pause,
            pausing: None,
            cut,
            fails: fault == Some(Fault::Break),
            ticket,
        }
    }

    /// Changes a body that arrives completely. Returns whether it changed the body.
    pub(super) fn change(&mut self, change: impl FnOnce(&[u8]) -> Option<Bytes>) -> bool {
        let ([body], false) = (self.pieces.make_contiguous(), self.cut) else {
            return false;
        };
        let changed = change(body);
        let is_changed = changed.is_some();
        *body = changed.unwrap_or_else(|| body.clone());
        is_changed
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !self.pause.is_zero() {
            let pause = self.pause;
            let pausing = self.pausing.get_or_insert_with(|| Box::pin(sleep(pause)));
            ready!(pausing.as_mut().poll(context));
            self.pausing = None;
        }
        if let Some(piece) = self.pieces.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let request = self.ticket.request;
        let end = if self.cut {
            Event::Broke { request }
        } else {
            Event::Delivered { request }
        };
        self.ticket.close(end);
        let failed = std::mem::take(&mut self.fails);
        Poll::Ready(failed.then(|| Err(io::ErrorKind::UnexpectedEof.into())))
    }
}
