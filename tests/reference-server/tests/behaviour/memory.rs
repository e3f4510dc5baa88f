//! The in-memory service on a paused clock, so every delay below takes no time.

use std::collections::HashSet;
use std::convert::Infallible;
use std::io;
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame};
use reqwest::{Method, RequestBuilder};
use sdk_reference_server::{App, Operation, ReferenceServer, Transport};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, timeout};

use crate::peer::Peer;

const COMMANDS: &str = "/api/crm/v1/commands";
const PEOPLE: &str = "/api/crm/v1/people";

/// Longer than any delay in these tests.
const A_DAY: Duration = Duration::from_secs(86_400);

/// A client with a token for the CRM.
struct Memory(Peer, String);

impl Deref for Memory {
    type Target = Peer;

    fn deref(&self) -> &Peer {
        &self.0
    }
}

impl Memory {
    async fn start() -> Memory {
        Memory::of(ReferenceServer::in_memory()).await
    }

    async fn of(server: ReferenceServer) -> Memory {
        let peer = Peer::of(server);
        let token = peer.token(App::Crm).await;
        Memory(peer, token)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.server.crm_url());
        self.http.request(method, url).bearer_auth(&self.1)
    }

    fn people(&self) -> RequestBuilder {
        self.request(Method::GET, PEOPLE)
    }

    fn task(&self, title: &str) -> RequestBuilder {
        let body = json!({"commandType": "task.create", "payload": {"title": title}});
        self.posting(App::Crm, COMMANDS, &body).bearer_auth(&self.1)
    }

    fn attempts_and_commits(&self) -> (u64, u64) {
        let command = Operation::SubmitCommand;
        (self.server.attempts(command), self.server.commits(command))
    }
}

/// Returns a body, and a flag that is set when the body is read.
fn watched() -> (reqwest::Body, Arc<AtomicBool>) {
    let asked = Arc::new(AtomicBool::new(false));
    let noting = Arc::clone(&asked);
    let body = r#"{"commandType": "task.create", "payload": {"title": "Watched"}}"#;
    let body = Full::<Bytes>::from(body).map_frame(move |frame| {
        noting.store(true, Ordering::Relaxed);
        frame
    });
    (reqwest::Body::wrap(body), asked)
}

pub(crate) struct Endless;

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_age_with_the_callers_clock_unless_it_is_frozen() {
    let frozen = Memory::of(ReferenceServer::builder().frozen_clock().in_memory()).await;
    let memory = Memory::start().await;
    let began = memory.server.now();

    advance(Duration::from_secs(299)).await;
    memory.read(memory.people()).await.expect(200);
    advance(Duration::from_secs(1)).await;
    memory.read(memory.people()).await.expect(401);

    assert_eq!((memory.server.now() - began).get_seconds(), 300);
    frozen.read(frozen.people()).await.expect(200);
}

#[tokio::test(start_paused = true)]
async fn requests_and_responses_have_the_headers_that_http_libraries_add() {
    let memory = Memory::start().await;
    advance(Duration::from_secs(61)).await;
    let got = memory.read(memory.people()).await;
    assert_eq!(got.header("date"), Some("Thu, 15 Jan 2026 09:01:01 GMT"));
    memory.read(memory.task("Task")).await.expect(201);
    let seen = &memory.server.requests_for(Operation::SubmitCommand)[0];
    assert_eq!(seen.header("host"), Some("crm.suite.test"));
    for (length, header) in [
        (got.text.len(), got.header("content-length")),
        (seen.body().len(), seen.header("content-length")),
    ] {
        assert_eq!(header, Some(&*length.to_string()));
    }
    memory.once(Operation::ListPeople).status(204);
    let bare = memory.read(memory.people()).await;
    assert_eq!(bare.header("content-length"), None);
}

#[tokio::test(start_paused = true)]
async fn a_body_breaks_in_the_middle_and_drips_on_the_callers_clock() {
    let memory = Memory::start().await;
    let whole = memory.read(memory.people()).await.text;
    memory.once(Operation::ListPeople).break_body();
    let mut body = memory.hand(memory.people()).await.unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!(first.len(), whole.len() / 2);
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);

    let (delay, pause) = (Duration::from_secs(60), Duration::from_secs(3_600));
    let piece = whole.len().div_ceil(4);
    let fault = memory.once(Operation::ListPeople).delay(delay);
    fault.drip_body(piece, pause);
    let began = Instant::now();
    let mut body = memory.hand(memory.people()).await.unwrap().into_body();
    assert_eq!(began.elapsed(), delay);
    // The size hint is the remaining length, not the full length.
    for left in [whole.len(), whole.len() - piece] {
        assert_eq!(body.size_hint().exact(), Some(left as u64));
        body.frame().await.unwrap().unwrap();
    }
    body.collect().await.unwrap();
    assert_eq!(began.elapsed(), delay + pause * 3);
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_leaves_the_request_untouched() {
    let memory = Memory::start().await;
    let refuse = r#"{"faults": [{"operation": "submitCommand", "when": {"skip": 1, "times": 2},
        "then": {"refuseConnection": true}}]}"#;
    let refusing = memory.server.load_faults(refuse).unwrap();
    let delaying = memory.server.fault(Operation::SubmitCommand).skip(1);
    let delaying = delaying.delay(Duration::from_secs(7));
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        let (body, asked) = watched();
        let began = Instant::now();
        let sent = memory.hand(memory.task("").body(body)).await;
        let kind = sent.err().map(|error| error.kind());
        let asked = asked.load(Ordering::Relaxed);
        outcomes.push((kind, asked, began.elapsed().as_secs()));
    }

    let refused = (Some(io::ErrorKind::ConnectionRefused), false, 0);
    // A request that was never sent doesn't advance the schedules of other faults.
    let expected = [(None, true, 0), refused, refused, (None, true, 7)];
    assert_eq!(outcomes, expected);
    assert_eq!((refusing[0].struck(), delaying.struck()), (2, 1));
    assert_eq!(memory.attempts_and_commits(), (2, 1));
    assert_eq!(memory.server.requests_for("submitCommand").len(), 2);
    let log = memory.server.fault_log();
    assert_eq!((log.len(), log[0].request_id.as_str()), (3, ""));
    memory.read(memory.people()).await.expect(200);
}

#[tokio::test(start_paused = true)]
async fn a_sent_request_is_served_even_if_the_caller_is_gone() {
    let memory = Memory::start().await;
    let context = &mut Context::from_waker(Waker::noop());
    let endless = memory.task("").body(reqwest::Body::wrap(Endless));
    for (request, polls, arrives) in [
        (memory.task("Not begun"), false, 0),
        (endless, true, 0),
        (memory.task("Sent"), true, 1),
    ] {
        let mut sending = Box::pin(memory.hand(request));
        if polls {
            assert!(sending.as_mut().poll(context).is_pending());
        }
        drop(sending);
        tokio::task::yield_now().await;
        assert_eq!(memory.attempts_and_commits(), (arrives, arrives));
    }

    memory.once(Operation::SubmitCommand).delay(A_DAY);
    let limit = Duration::from_secs(1);
    let late = timeout(limit, memory.hand(memory.task("Late"))).await;
    assert!(late.is_err());
    assert_eq!(memory.attempts_and_commits(), (2, 2));
    assert_eq!(memory.server.requests_for("submitCommand").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_times_out_as_on_a_socket() {
    let limit = Duration::from_secs(5);
    let memory = Memory::of(ReferenceServer::builder().read_timeout(limit).in_memory()).await;
    let began = Instant::now();
    let endless = memory.task("").body(reqwest::Body::wrap(Endless));
    let error = memory.hand(endless).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(began.elapsed(), limit);
    let foreign = memory.task("").header("host", "elsewhere.invalid");
    memory.read(foreign).await.expect(403);
    assert_eq!(memory.attempts_and_commits(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn other_addresses_refuse_the_connection() {
    let memory = Memory::start().await;
    for address in [
        "https://elsewhere.suite.test/",
        "http://crm.suite.test/",
        "https://crm.suite.test:444/",
    ] {
        let (body, asked) = watched();
        let request = memory.http.post(address).body(body);
        let error = memory.hand(request).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert!(!asked.load(Ordering::Relaxed));
    }
    let same = memory.http.get("HTTPS://user@CRM.suite.test:443/");
    memory.read(same).await.expect(200);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_server_refuses_and_resets() {
    let memory = Memory::start().await;
    memory.once(Operation::ListPeople).delay(A_DAY);
    let mut waiting = pin!(memory.hand(memory.people()));
    assert!(timeout(Duration::from_secs(1), &mut waiting).await.is_err());
    let late = memory.hand(memory.task("Late"));

    drop(memory);

    let reset = waiting.await.unwrap_err();
    assert_eq!(reset.kind(), io::ErrorKind::ConnectionReset);
    let refused = late.await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn a_server_on_sockets_has_a_service_too() {
    for transport in [Transport::Hyper, Transport::Wiremock] {
        let builder = ReferenceServer::builder().transport(transport);
        let memory = Memory::of(builder.start().await).await;
        let reply = memory.hand(memory.task("In memory")).await.unwrap();
        assert_eq!(reply.status(), 201);
        memory.read(memory.task("On a socket")).await.expect(201);
        assert_eq!(memory.attempts_and_commits(), (2, 2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hundreds_of_concurrent_calls_are_all_served() {
    const CALLS: u64 = 300;
    let memory = Memory::start().await;
    let calls = (0..CALLS).map(|number| memory.hand(memory.task(&number.to_string())));
    let calls: JoinSet<_> = calls.collect();
    for reply in calls.join_all().await {
        assert_eq!(reply.unwrap().status(), 201);
    }
    assert_eq!(memory.attempts_and_commits(), (CALLS, CALLS));
    let tasks = memory.walk("/tasks?owner=all&limit=50").await;
    let references = tasks.iter().map(|task| task["publicReference"].as_str());
    let distinct: HashSet<_> = references.collect();
    assert_eq!(distinct.len() as u64, 500 + CALLS);
}
