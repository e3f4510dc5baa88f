//! Records the most recent requests, with secrets redacted.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use jiff::Timestamp;
use percent_encoding::percent_decode_str;

use crate::app::App;
use crate::generated::operations::Operation;
use crate::keys;
use crate::message::Request;
use crate::schema::Served;
use crate::visit::{Visit, request_id};

/// Longer bodies are not stored.
const LONGEST_KEPT_BODY: usize = 16 * 1024;

/// A request that the server received.
#[derive(Clone)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The number of the request, counted from one in the order of arrival.
    pub number: u64,
    /// The time of arrival, by the server's clock.
    pub at: Timestamp,
    /// The application that received the request.
    pub app: App,
    /// The suite's operation that the request matched, if any.
    pub operation: Option<Operation>,
    /// The HTTP method.
    pub method: String,
    /// The path, percent-encoded as sent.
    pub path: String,
    /// The query, percent-encoded as sent. Credentials are replaced by `[redacted]`.
    pub query: Option<String>,
    /// The headers. Credentials are replaced by `[redacted]`, an idempotency key by its digest.
    pub headers: Vec<(String, String)>,
    /// The status of the response; `None` if the server sent none.
    pub status: Option<u16>,
    body: Bytes,
    operation_id: Option<Arc<str>>,
    from_schema: bool,
    idempotency_key: Option<String>,
}

impl RecordedRequest {
    /// Returns the `x-request-id` of the response. Error bodies and the fault log contain the same ID.
    #[must_use]
    pub fn request_id(&self) -> String {
        request_id(self.number)
    }

    /// Returns the `operationId` of the matched operation, including operations of a
    /// [`contract`](crate::Builder::contract).
    #[must_use]
    pub fn operation_id(&self) -> Option<&str> {
        self.operation_id.as_deref()
    }

    /// Whether the request matched an operation that is served from its schema, without a handler.
    #[must_use]
    pub fn served_from_schema(&self) -> bool {
        self.from_schema
    }

    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the idempotency key itself. `headers` and `Debug` only show its digest.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// Returns the body, or an empty body if it was longer than 16 KiB. The secret in a token request is redacted.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }
}

impl fmt::Debug for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedRequest")
            .field("number", &self.number)
            .field("operation", &self.operation_id())
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &self.query)
            .field("headers", &self.headers)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(crate) struct Recorder {
    limit: usize,
    ring: Mutex<VecDeque<RecordedRequest>>,
}

impl Recorder {
    pub(crate) fn new(limit: usize) -> Recorder {
        Recorder {
            limit,
            ring: Mutex::new(VecDeque::new()),
        }
    }

    pub(crate) fn record(&self, number: u64, visit: &Visit<'_>, status: Option<u16>) {
        if self.limit == 0 {
            return;
        }
        let (request, operation) = (visit.request, visit.operation);
        let recorded = RecordedRequest {
            number,
            at: visit.now,
            app: visit.app,
            operation: operation.and_then(|it| it.written),
            operation_id: operation.map(|it| Arc::clone(&it.id)),
            from_schema: operation.is_some_and(Served::is_from_schema),
            method: request.method.to_string(),
            path: request.path.clone(),
            query: request.query.as_deref().map(query),
            headers: headers(request),
            status,
            body: body(request, operation),
            idempotency_key: request.header("idempotency-key").map(str::to_owned),
        };
        let mut ring = self.ring();
        if ring.len() >= self.limit {
            ring.pop_front();
        }
        ring.push_back(recorded);
    }

    pub(crate) fn clear(&self) {
        self.ring().clear();
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.ring().iter().cloned().collect()
    }

    fn ring(&self) -> MutexGuard<'_, VecDeque<RecordedRequest>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn headers(request: &Request) -> Vec<(String, String)> {
    let shown = |name: &HeaderName, value: &HeaderValue| match name.as_str() {
        "authorization" | "cookie" | "proxy-authorization" => "[redacted]".to_owned(),
        "idempotency-key" => keys::short_digest(value.as_bytes()),
        _ => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    };
    let all = request.headers.iter();
    all.map(|(name, value)| (name.to_string(), shown(name, value)))
        .collect()
}

/// Redacts credentials in a query. They don't belong there, but a test may check for exactly this mistake.
fn query(query: &str) -> String {
    let secret = |name: &str| {
        let name = percent_decode_str(name).decode_utf8_lossy().to_lowercase();
        let named = ["token", "secret", "password", "assertion", "credential"];
        named.iter().any(|part| name.contains(part))
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if secret(name) => format!("{name}=[redacted]"),
        _ => pair.to_owned(),
    });
    pairs.collect::<Vec<_>>().join("&")
}

fn body(request: &Request, operation: Option<&Served>) -> Bytes {
    let body = &request.body;
    if body.len() > LONGEST_KEPT_BODY {
        return Bytes::new();
    }
    // A form that no operation accepts may be a token request with a wrong address, so its secret is redacted, too.
    let lost = operation.is_none()
        && request.media_type().as_deref() == Some("application/x-www-form-urlencoded");
    if !lost && !operation.is_some_and(Served::is_exchange) {
        return body.clone();
    }
    let text = String::from_utf8_lossy(body);
    let fields = text.split('&').map(|field| match field.split_once('=') {
        Some((name @ ("grant_type" | "scope" | "audience" | "client_id"), value)) => {
            format!("{name}={value}")
        }
        Some((name, _)) => format!("{name}=[redacted]"),
        None => "[redacted]".to_owned(),
    });
    Bytes::from(fields.collect::<Vec<_>>().join("&"))
}
