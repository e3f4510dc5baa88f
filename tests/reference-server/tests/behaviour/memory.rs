//! The server as a service in memory, on a paused clock: every wait below takes no time.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame};
use sdk_reference_server::{
    App, ConnectionError, InMemoryService, Operation, ReferenceServer, ReplyBody, Transport,
};
use serde_json::{Value, json};
use tokio::time::{Instant, advance, timeout};
use tower_service::Service;

const COMMANDS: &str = "/api/crm/v1/commands";
const PEOPLE: &str = "/api/crm/v1/people";

/// Longer than any test has reason to wait.
const A_DAY: Duration = Duration::from_secs(86_400);

/// A server in memory, and somebody who calls it.
struct Memory {
    server: ReferenceServer,
    service: InMemoryService,
    token: String,
}

impl Memory {
    async fn start() -> Memory {
        Memory::of(ReferenceServer::in_memory()).await
    }

    async fn of(server: ReferenceServer) -> Memory {
        let mut service = server.service();
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&audience={}",
            server.client_id(),
            server.client_secret(),
            server.audience(App::Crm)
        );
        let request = Request::post(server.token_url())
            .header("content-type", "application/x-www-form-urlencoded");
        let reply = service
            .call(request.body(Full::<Bytes>::from(form)).unwrap())
            .await;
        let reply = json_of(reply.unwrap()).await;
        Memory {
            token: reply["access_token"].as_str().unwrap().to_owned(),
            server,
            service,
        }
    }

    fn request<B>(&self, method: Method, path: &str, body: B) -> Request<B> {
        Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.server.crm_url()))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(body)
            .unwrap()
    }

    async fn send<B>(&self, request: Request<B>) -> Result<Response<ReplyBody>, ConnectionError>
    where
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.service.clone().call(request).await
    }

    async fn get(&self, path: &str) -> Result<Response<ReplyBody>, ConnectionError> {
        self.send(self.request(Method::GET, path, Full::<Bytes>::default()))
            .await
    }

    fn task(&self, title: &str) -> Request<Full<Bytes>> {
        let body = json!({"commandType": "task.create", "payload": {"title": title}});
        self.request(Method::POST, COMMANDS, Full::from(body.to_string()))
    }

    fn attempts_and_commits(&self) -> (u64, u64) {
        let command = Operation::SubmitCommand;
        (self.server.attempts(command), self.server.commits(command))
    }
}

async fn json_of(reply: Response<ReplyBody>) -> Value {
    let body = reply.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

/// The kind that a caller finds behind an error.
fn io_kind(error: &(dyn Error + 'static)) -> io::ErrorKind {
    let own = error.downcast_ref::<io::Error>();
    own.or_else(|| error.source()?.downcast_ref())
        .unwrap()
        .kind()
}

/// A body that notes whether anybody asked for it, and that ends only if it has an end.
struct Watched {
    text: Option<Bytes>,
    endless: bool,
    polled: Arc<AtomicBool>,
}

impl Watched {
    fn new(endless: bool) -> (Watched, Arc<AtomicBool>) {
        let polled = Arc::new(AtomicBool::new(false));
        let body = json!({"commandType": "task.create", "payload": {"title": "Watched"}});
        let watched = Watched {
            text: Some(body.to_string().into()),
            endless,
            polled: Arc::clone(&polled),
        };
        (watched, polled)
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.polled.store(true, Ordering::Relaxed);
        match self.text.take() {
            None if self.endless => Poll::Pending,
            text => Poll::Ready(text.map(|text| Ok(Frame::data(text)))),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_age_with_the_callers_clock() {
    let memory = Memory::start().await;
    let began = memory.server.now();

    advance(Duration::from_secs(299)).await;
    assert_eq!(memory.get(PEOPLE).await.unwrap().status(), StatusCode::OK);
    advance(Duration::from_secs(1)).await;
    let late = memory.get(PEOPLE).await.unwrap();

    assert_eq!(late.status(), StatusCode::UNAUTHORIZED);
    assert_eq!((memory.server.now() - began).get_seconds(), 300);
}

#[tokio::test(start_paused = true)]
async fn a_frozen_clock_stays_frozen() {
    let memory = Memory::of(ReferenceServer::builder().frozen_clock().in_memory()).await;

    advance(A_DAY).await;

    assert_eq!(memory.get(PEOPLE).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_reply_has_what_http_libraries_add() {
    let memory = Memory::start().await;
    advance(Duration::from_secs(61)).await;

    let reply = memory.get(PEOPLE).await.unwrap();
    assert_eq!(reply.headers()["date"], "Thu, 15 Jan 2026 09:01:01 GMT");
    let length: usize = reply.headers()["content-length"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    let body = reply.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body.len(), length);

    memory.send(memory.task("Task")).await.unwrap();
    let seen = memory.server.requests_for(Operation::SubmitCommand);
    assert_eq!(seen[0].header("host"), Some("crm.suite.test"));
    let sent = seen[0].body().len().to_string();
    assert_eq!(seen[0].header("content-length"), Some(sent.as_str()));

    let head = memory.request(Method::HEAD, "/", Full::<Bytes>::default());
    let page = memory.send(head).await.unwrap();
    let length = page.headers()["content-length"].to_str().unwrap();
    assert!(length.parse::<usize>().unwrap() > 1000);
    let body = page.into_body().collect().await.unwrap().to_bytes();
    assert!(body.is_empty());

    let fault = memory.server.fault(Operation::ListPeople);
    fault.status(204).header("date", "yesterday");
    let bare = memory.get(PEOPLE).await.unwrap();
    assert_eq!(bare.headers()["date"], "yesterday");
    assert!(!bare.headers().contains_key("content-length"));
}

#[tokio::test(start_paused = true)]
async fn delays_and_drips_wait_on_the_callers_clock() {
    let memory = Memory::start().await;
    let whole = json_of(memory.get(PEOPLE).await.unwrap()).await;
    let (delay, pause) = (Duration::from_secs(60), Duration::from_secs(3_600));
    let length = 1 + serde_json::to_vec(&whole).unwrap().len() / 4;
    let fault = memory.server.fault(Operation::ListPeople);
    fault.times(1).delay(delay).drip_body(length, pause);
    let began = Instant::now();

    let reply = memory.get(PEOPLE).await.unwrap();
    assert_eq!(began.elapsed(), delay);
    let mut body = reply.into_body();
    let announced = body.size_hint().exact().unwrap();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let left = body.size_hint().exact().unwrap();
    let rest = body.collect().await.unwrap().to_bytes();

    // A body says what is left of it, not what it was.
    assert_eq!(
        (first.len(), left),
        (length, announced - first.len() as u64)
    );
    let dripped: Value = serde_json::from_slice(&[first, rest].concat()).unwrap();
    assert_eq!(dripped, whole);
    assert_eq!(began.elapsed(), delay + pause * 3);
}

#[tokio::test(start_paused = true)]
async fn a_body_is_cut_in_the_middle() {
    let memory = Memory::start().await;
    memory.server.fault(Operation::ListPeople).break_body();

    let reply = memory.get(PEOPLE).await.unwrap();
    assert_eq!(reply.status(), StatusCode::OK);
    let mut body = reply.into_body();
    let announced = body.size_hint().exact().unwrap();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let error = body.frame().await.unwrap().unwrap_err();

    assert_eq!(first.len() as u64, announced / 2);
    assert_eq!(io_kind(&error), io::ErrorKind::ConnectionReset);
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_is_a_commit_and_a_closed_connection_is_none() {
    let memory = Memory::start().await;
    let command = Operation::SubmitCommand;
    let fault = memory.server.fault(command).times(1).close_connection();
    let closed = memory.send(memory.task("Lost")).await.unwrap_err();
    assert_eq!(io_kind(&closed), io::ErrorKind::ConnectionReset);
    assert!(!closed.is_refused());
    assert_eq!((fault.struck(), memory.attempts_and_commits()), (1, (1, 0)));

    memory.server.fault(command).times(1).lose_reply();
    let lost = memory.send(memory.task("Lost")).await.unwrap_err();
    assert_eq!(io_kind(&lost), io::ErrorKind::ConnectionReset);
    assert_eq!(memory.attempts_and_commits(), (2, 1));

    // The same command again is a replay.
    let reply = memory.send(memory.task("Lost")).await.unwrap();
    assert_eq!(reply.status(), StatusCode::OK);
    assert_eq!(memory.attempts_and_commits(), (3, 1));
    let seen = memory.server.requests_for(command);
    let statuses: Vec<_> = seen.iter().map(|request| request.status).collect();
    assert_eq!(statuses, [None, None, Some(200)]);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_call_commits_and_never_answers() {
    let memory = Memory::start().await;
    let json = r#"{"faults": [{"operation": "submitCommand", "when": {"times": 1}, "then": {"stall": true}}]}"#;
    memory.server.load_faults(json).unwrap();

    let waited = timeout(A_DAY, memory.send(memory.task("Stalled"))).await;

    assert!(waited.is_err());
    assert_eq!(memory.attempts_and_commits(), (1, 1));
    let seen = memory.server.requests_for(Operation::SubmitCommand);
    assert_eq!(seen[0].status, None);
    memory.send(memory.task("Stalled")).await.unwrap();
    assert_eq!(memory.attempts_and_commits(), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_leaves_the_request_untouched() {
    let memory = Memory::start().await;
    let json = r#"{"faults": [{"operation": "submitCommand", "when": {"skip": 1, "times": 2},
        "then": {"refuseConnection": true}}]}"#;
    let refusing = memory.server.load_faults(json).unwrap();
    let delaying = memory.server.fault(Operation::SubmitCommand).skip(1);
    let delaying = delaying.delay(Duration::from_secs(7));
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        let (body, polled) = Watched::new(false);
        let began = Instant::now();
        let sent = memory
            .send(memory.request(Method::POST, COMMANDS, body))
            .await;
        if let Err(error) = &sent {
            assert_eq!(io_kind(error), io::ErrorKind::ConnectionRefused);
        }
        let polled = polled.load(Ordering::Relaxed);
        outcomes.push((sent.is_ok(), polled, began.elapsed().as_secs()));
    }

    let refused = (false, false, 0);
    // What was never sent moves no other fault's schedule either.
    let expected = [(true, true, 0), refused, refused, (true, true, 7)];
    assert_eq!(outcomes, expected);
    assert_eq!((refusing[0].struck(), delaying.struck()), (2, 1));
    assert_eq!(memory.attempts_and_commits(), (2, 1));
    assert_eq!(memory.server.requests_for("submitCommand").len(), 2);
    let log = memory.server.fault_log();
    assert_eq!((log.len(), log[0].request_id.as_str()), (3, ""));
    assert_eq!(memory.get(PEOPLE).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_arrives_though_the_caller_is_gone() {
    let memory = Memory::start().await;
    let context = &mut Context::from_waker(Waker::noop());

    // Never polled, and polled without end: nothing was sent, or only a part.
    let mut service = memory.service.clone();
    drop(service.call(memory.task("Never polled")));
    let (endless, polled) = Watched::new(true);
    let mut sending = Box::pin(memory.send(memory.request(Method::POST, COMMANDS, endless)));
    assert!(sending.as_mut().poll(context).is_pending());
    drop(sending);
    tokio::task::yield_now().await;
    assert!(polled.load(Ordering::Relaxed));
    assert_eq!(memory.attempts_and_commits(), (0, 0));

    let mut sending = Box::pin(memory.send(memory.task("Sent")));
    assert!(sending.as_mut().poll(context).is_pending());
    drop(sending);
    tokio::task::yield_now().await;
    assert_eq!(memory.attempts_and_commits(), (1, 1));

    let fault = memory.server.fault(Operation::SubmitCommand);
    fault.times(1).delay(A_DAY);
    let limit = Duration::from_secs(1);
    let late = timeout(limit, memory.send(memory.task("Late"))).await;
    assert!(late.is_err());
    assert_eq!(memory.attempts_and_commits(), (2, 2));
    let seen = memory.server.requests_for(Operation::SubmitCommand);
    assert_eq!(seen.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_body_without_end_is_cut_off_in_time() {
    let server = ReferenceServer::builder().read_timeout(Duration::from_secs(5));
    let memory = Memory::of(server.in_memory()).await;
    let began = Instant::now();

    let (endless, _) = Watched::new(true);
    let request = memory.request(Method::POST, COMMANDS, endless);
    let error = memory.send(request).await.unwrap_err();

    assert_eq!(io_kind(&error), io::ErrorKind::ConnectionReset);
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(memory.attempts_and_commits(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn limits_and_foreign_hosts_are_those_of_a_socket() {
    let memory = Memory::start().await;
    let long = Full::<Bytes>::from(vec![b' '; (1 << 20) + 1]);
    let long = memory.request(Method::POST, COMMANDS, long);
    assert_eq!(memory.send(long).await.unwrap().status(), 400);

    let mut foreign = memory.task("Foreign");
    let host = "elsewhere.invalid".parse().unwrap();
    foreign.headers_mut().insert("host", host);
    assert_eq!(memory.send(foreign).await.unwrap().status(), 403);
    assert_eq!(memory.server.commits(Operation::SubmitCommand), 0);
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_at_other_addresses() {
    let memory = Memory::start().await;
    for address in [
        "https://elsewhere.suite.test/",
        "http://crm.suite.test/",
        "https://crm.suite.test:444/",
        "/api/crm/v1/commands",
    ] {
        let (body, polled) = Watched::new(false);
        let request = Request::post(address).body(body).unwrap();
        let error = memory.send(request).await.unwrap_err();
        assert_eq!(io_kind(&error), io::ErrorKind::ConnectionRefused);
        assert!(error.is_refused() && !polled.load(Ordering::Relaxed));
    }
    for address in ["https://CRM.suite.test:443/", "HTTPS://crm.suite.test"] {
        let request = Request::get(address).body(Full::<Bytes>::default());
        let page = memory.send(request.unwrap()).await.unwrap();
        assert_eq!(page.status(), StatusCode::OK);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_server_refuses_and_resets() {
    let memory = Memory::start().await;
    memory.server.fault(Operation::ListPeople).delay(A_DAY);
    let mut waiting = pin!(memory.service.clone().call(memory.request(
        Method::GET,
        PEOPLE,
        Full::<Bytes>::default()
    )));
    assert!(timeout(Duration::from_secs(1), &mut waiting).await.is_err());
    let request = memory.task("Late");
    let Memory {
        server,
        mut service,
        ..
    } = memory;

    drop(server);

    assert!(!waiting.await.unwrap_err().is_refused());
    assert!(service.call(request).await.unwrap_err().is_refused());
}

#[tokio::test]
async fn a_server_on_sockets_has_a_service_too() {
    for transport in [Transport::Hyper, Transport::Wiremock] {
        let builder = ReferenceServer::builder().transport(transport);
        let memory = Memory::of(builder.start().await).await;
        memory.send(memory.task("In memory")).await.unwrap();

        let url = format!("{}{COMMANDS}", memory.server.crm_url());
        let request = reqwest::Client::new().post(url).bearer_auth(&memory.token);
        let request = request.header("content-type", "application/json");
        let task = r#"{"commandType":"task.create","payload":{"title":"On a socket"}}"#;
        let reply = request.body(task).send().await.unwrap();

        assert_eq!(reply.status(), StatusCode::CREATED);
        assert_eq!(memory.attempts_and_commits(), (2, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn the_control_endpoint_is_in_memory_too() {
    let builder = ReferenceServer::builder().transport(Transport::InMemory);
    let memory = Memory::of(builder.control_port(0).start().await).await;
    assert_eq!(memory.server.transport(), Transport::InMemory);
    let url = format!("{}/-/counters", memory.server.control_url().unwrap());

    let request = Request::get(url).body(Full::<Bytes>::default()).unwrap();
    let counters = json_of(memory.send(request).await.unwrap()).await;

    assert_eq!(counters["exchanges"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thousands_of_calls_at_once_are_all_served() {
    const CALLS: u64 = 5_000;
    let memory = Arc::new(Memory::start().await);
    let calls: Vec<_> = (0..CALLS)
        .map(|number| {
            let memory = Arc::clone(&memory);
            tokio::spawn(async move {
                let reply = memory.send(memory.task(&number.to_string())).await;
                json_of(reply.unwrap()).await["publicReference"].to_string()
            })
        })
        .collect();

    let mut created = std::collections::HashSet::new();
    for call in calls {
        created.insert(call.await.unwrap());
    }

    assert_eq!(created.len() as u64, CALLS);
    assert_eq!(memory.attempts_and_commits(), (CALLS, CALLS));
}
