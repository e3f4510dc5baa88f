//! Serves through wiremock.
//!
//! In wiremock, the mock that matches decides between a response and a broken connection. So the first mock serves the
//! request during matching, and matches only if the connection must break. Otherwise the second mock sends the
//! response. wiremock calls both under one lock, so the slot between them belongs to one request.

use std::io;
use std::mem::ManuallyDrop;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bytes::Bytes;
use http::Version;
use wiremock::matchers::any;
use wiremock::{Match, Mock, MockServer, Request as Incoming, ResponseTemplate};

use super::door::{Door, too_long};
use super::headers;
use crate::app::App;
use crate::message::{Ending, Reply, Request};
use crate::suite::Suite;

pub(crate) struct Running(pub(crate) Vec<MockServer>);

impl Drop for Running {
    /// A mock server waits for its own lock when it is dropped. In a task that has used up its share of the runtime,
    /// that wait never ends, and waiting inside another executor panics. So the drop runs on a new thread. If the
    /// system can't start a thread, the servers leak, which is better than blocking here.
    fn drop(&mut self) {
        let servers = ManuallyDrop::new(std::mem::take(&mut self.0));
        if !servers.is_empty() {
            let ending = thread::Builder::new().name("reference-server-end".to_owned());
            let _ = ending.spawn(move || drop(ManuallyDrop::into_inner(servers)));
        }
    }
}

type Slot = Arc<Mutex<Option<Reply>>>;

pub(crate) async fn start(listener: TcpListener, suite: Arc<Suite>, app: App) -> MockServer {
    let server = MockServer::builder()
        .listener(listener)
        .disable_request_recording()
        .start()
        .await;
    let slot = Slot::default();
    let breaking = Breaking {
        suite,
        app,
        slot: Arc::clone(&slot),
    };
    Mock::given(breaking)
        .respond_with_err(|_: &Incoming| io::Error::from(io::ErrorKind::ConnectionReset))
        .with_priority(1)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(move |_: &Incoming| template(take(&slot)))
        .with_priority(2)
        .mount(&server)
        .await;
    server
}

/// Serves a request as a side effect of matching.
struct Breaking {
    suite: Arc<Suite>,
    app: App,
    slot: Slot,
}

impl Match for Breaking {
    fn matches(&self, incoming: &Incoming) -> bool {
        let request = Request {
            method: incoming.method.clone(),
            // wiremock doesn't expose the version. With HTTP/1.0, a request without `Host` is allowed.
            version: Version::HTTP_10,
            path: incoming.url.path().to_owned(),
            query: incoming.url.query().map(str::to_owned),
            // wiremock sets `localhost` for a target without a host.
            authority: Some(incoming.url.authority().to_owned()),
            headers: incoming.headers.clone(),
            body: Bytes::copy_from_slice(&incoming.body),
        };
        let (suite, door) = (&self.suite, Door::App(self.app));
        let (length, longest) = (request.body.len(), door.longest_body(suite));
        let mut reply = if length > longest {
            let problem = too_long(longest, length);
            door.unread(suite, &request.headers, &problem)
        } else {
            door.answer(suite, &request)
        };
        headers::date(&mut reply.headers, self.suite.clock.now());
        let delivered = reply.fate.ending == Ending::Delivered;
        if delivered {
            *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
        }
        !delivered
    }
}

fn take(slot: &Slot) -> Reply {
    let reply = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    reply.unwrap_or_else(|| Reply::empty(503))
}

fn template(reply: Reply) -> ResponseTemplate {
    let mut template = ResponseTemplate::new(reply.status.as_u16()).set_body_bytes(reply.body);
    for (name, value) in &reply.headers {
        template = template.append_header(name.clone(), value.clone());
    }
    if reply.fate.delay.is_zero() {
        template
    } else {
        template.set_delay(reply.fate.delay)
    }
}
