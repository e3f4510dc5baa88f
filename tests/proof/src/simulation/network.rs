//! The network. A sent request arrives unless it has a fault, even if its caller no longer waits for the response.

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::io;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use http::{HeaderMap, Method, Request, Response, header, request};
use http_body_util::Full;
use sdk_core::App;
use sdk_core::transport::{RequestBody, TransportError};
use suite_checker::{Attempt, Done, Event, Sent};
use tokio::sync::oneshot::{Sender, channel};
use tokio::time::{Instant, sleep};
use tower_service::Service;

use super::answer::{Answer, Arriving, Ticket, json};
use super::broken;
use super::fate::{Fate, Fault, Weather};
use super::installation::{APPS, Installation, LATER, NAMES, uri};
use super::stage::{Number, Stage, digest, locked, micros};

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The headers with the number of the call, which lines may contain. A call has one of them.
pub(super) const CALL: [&str; 2] = ["x-correlation-id", "x-request-id"];

pub(super) const KEY: &str = "idempotency-key";

/// The default header of a client with the number of its installation.
pub(super) const TENANT: &str = "x-tenant";

/// The beginning of a suite's user agent, before the suite's number.
pub(super) const AGENT: &str = "suite/";

/// The network that all suites of a simulation use.
#[derive(Clone)]
pub(super) struct Network(Arc<Inner>);

pub(super) struct Inner {
    pub(super) stage: Arc<Stage>,
    pub(super) installations: Vec<Installation>,
    weather: Weather,
    rng: Mutex<Rng>,
    /// The suites of killed services, which send nothing more.
    dead: Mutex<HashSet<u32>>,
    /// The issued tokens and their numbers.
    tokens: Mutex<HashMap<String, u64>>,
    /// The applications that are down, with the end and the kind of the outage.
    down: Mutex<HashMap<(usize, usize), (Instant, u8)>>,
}

impl Deref for Network {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Service<Request<RequestBody>> for Network {
    type Response = Response<Arriving>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Arriving>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        Box::pin(broken::carry(self.clone(), request))
    }
}

/// A request as the network sees it.
struct Parcel {
    number: u64,
    installation: usize,
    app: usize,
    head: request::Parts,
    body: Bytes,
}

impl Network {
    pub(super) fn new(stage: &Arc<Stage>, installations: Vec<Installation>, rng: &mut Rng) -> Self {
        Self(Arc::new(Inner {
            stage: Arc::clone(stage),
            installations,
            weather: Weather::draw(rng),
            rng: Mutex::new(rng.fork()),
            dead: Mutex::default(),
            tokens: Mutex::default(),
            down: Mutex::default(),
        }))
    }

    pub(super) fn kill(&self, suites: &[u32]) {
        locked(&self.dead).extend(suites);
    }

    pub(super) fn take_down(&self, installation: usize, app: usize, time: Duration, how: u8) {
        self.stage.count("fault: outage of an application");
        let until = (Instant::now() + time, how);
        locked(&self.down).insert((installation, app), until);
    }

    fn fate(&self, installation: usize, app: usize) -> Fate {
        if self.stage.is_calm() || self.stage.simulation.faultless {
            return Fate::calm();
        }
        let down = locked(&self.down).get(&(installation, app)).copied();
        let down = down.filter(|(until, _)| Instant::now() < *until);
        let (rng, is_exchange) = (&mut locked(&self.rng), APPS[app].0 == App::Platform);
        let fate = self.weather.fate(rng, is_exchange, down.map(|it| it.1));
        if let Some(fault) = fate.fault {
            self.stage.count(fault.name());
        }
        if fate.out + fate.back > Duration::from_secs(1) {
            self.stage.count("fault: delayed");
        }
        fate
    }

    pub(super) async fn carry(
        self,
        request: Request<RequestBody>,
    ) -> Result<Response<Arriving>, BoxError> {
        let (head, body) = request.into_parts();
        let suite = text(&head.headers, header::USER_AGENT.as_str());
        let suite = suite.trim_start_matches(AGENT).split(' ').next();
        let suite: Option<u32> = suite.and_then(|it| it.parse().ok());
        let suite = suite.expect("a suite of this simulation");
        let (installation, app) = place(head.uri.host().unwrap_or_default());
        let mut fate = self.fate(installation, app);
        if locked(&self.dead).contains(&suite) || self.stage.is_stuck() {
            return pending().await;
        }
        let number = self.stage.next(Number::Request);
        self.stage.count("requests");
        let mut parcel = Parcel {
            number,
            installation,
            app,
            head,
            body: Bytes::new(),
        };
        // An unread body proves that the request was not sent. Other bodies are recorded first, before any fault.
        let recorded = parcel.is_exchange() || parcel.head.headers.contains_key(KEY);
        let mut body = Some(body);
        if recorded && let Some(body) = body.take() {
            parcel.body = body.into_bytes()?;
        }
        self.depart(suite, &parcel);
        let ticket = Ticket::new(Arc::clone(&self.stage), number);
        wait(fate.connect).await;
        match fate.fault {
            Some(Fault::Refuse) => {
                ticket.broke();
                let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
                return Err(if recorded {
                    TransportError::not_sent(refused).into()
                } else {
                    refused.into()
                });
            }
            Some(Fault::Unreached) if recorded => fate.fault = Some(Fault::Swallow),
            Some(Fault::Unreached) => return pending().await,
            _ => {}
        }
        if let Some(body) = body {
            parcel.body = body.into_bytes()?;
        }
        let (request, body) = (number, body_digest(&parcel.body));
        self.stage.record(Event::Begun { request, body });
        if let Some(Fault::Gateway(status, seconds)) = fate.fault {
            wait(fate.out).await;
            let authorization = text(&parcel.head.headers, header::AUTHORIZATION.as_str());
            let answer = Answer::of_gateway(status, seconds, authorization);
            self.answered(number, &answer, Done::Nothing, false);
            return Ok(answer.into_response(None, ticket));
        }
        let (sender, receiver) = channel();
        tokio::spawn(self.clone().travel(parcel, fate, sender));
        let answer = receiver.await;
        if locked(&self.dead).contains(&suite) {
            drop(ticket);
            return pending().await;
        }
        match answer {
            Ok(answer) => Ok(answer.into_response(fate.fault, ticket)),
            Err(_) => Err(ticket.broke().into()),
        }
    }

    fn depart(&self, suite: u32, parcel: &Parcel) {
        let headers = &parcel.head.headers;
        let installation = &self.installations[parcel.installation];
        let sent = if parcel.is_exchange() {
            self.stage.count("exchanges");
            let audience = parcel.audience();
            Sent::Exchange { audience }
        } else {
            let number = |name| text(headers, name).parse().ok();
            let token = text(headers, header::AUTHORIZATION.as_str());
            let token = token.strip_prefix("Bearer ");
            let call = number(CALL[1]).or_else(|| number(CALL[0]));
            let tenant = text(headers, TENANT).parse().unwrap_or(u32::MAX);
            let key = headers.get(KEY);
            Sent::Attempt(Attempt {
                call: call.unwrap_or_default(),
                audience: installation.audiences[parcel.app].clone(),
                token: token.map(|it| self.token(it)),
                tenant,
                key: key.map(|it| it.to_str().unwrap_or_default().to_owned()),
                target: parcel.target().to_owned(),
            })
        };
        self.stage.record(Event::Departed {
            request: parcel.number,
            suite,
            installation: installation.number,
            sent,
        });
    }

    /// Returns the number of an issued token, or 0.
    fn token(&self, text: &str) -> u64 {
        locked(&self.tokens).get(text).copied().unwrap_or_default()
    }

    /// Delivers a request to its server, and the answer to the suite.
    async fn travel(self, parcel: Parcel, fate: Fate, mut sender: Sender<Answer>) {
        wait(fate.out).await;
        match fate.fault {
            Some(Fault::Cut) => return,
            Some(Fault::Swallow) => return sender.closed().await,
            _ => {}
        }
        let mut answer = self.serve(parcel, fate.fault == Some(Fault::Loop)).await;
        wait(fate.back).await;
        match fate.fault {
            Some(Fault::Lose) => return,
            Some(Fault::Stall) => return sender.closed().await,
            Some(Fault::Replace(status)) => answer = Answer::of_gateway(status, None, ""),
            _ => {}
        }
        let _ = sender.send(answer);
    }

    async fn serve(&self, parcel: Parcel, loops: bool) -> Answer {
        let installation = &self.installations[parcel.installation];
        let (number, method) = (parcel.number, parcel.head.method.clone());
        let mut exchange = None;
        if parcel.is_exchange() {
            let turn = installation.turn.lock().await;
            let lasts = installation.set_terms(&self.stage, &mut locked(&self.rng));
            exchange = Some((turn, lasts, parcel.audience()));
        }
        let cursor = field(parcel.head.uri.query().unwrap_or_default(), "cursor");
        let request = parcel.into_request();
        self.stage.record(Event::Arrived { request: number });
        let mut answer = installation.serve(request).await;
        let mut odd = loops && !cursor.is_empty() && answer.name_next(cursor);
        let version = &json(&answer.body)["schemaVersion"];
        odd |= version.as_str().is_some_and(|it| it.ends_with(LATER));
        let done = match &exchange {
            _ if !answer.status.is_success() => Done::Nothing,
            Some((_, lasts, audience)) => self.issued(&answer.body, *lasts, audience.clone()),
            None if method == Method::POST => answer.committed(),
            None => Done::Nothing,
        };
        self.answered(number, &answer, done, odd);
        answer
    }

    fn answered(&self, request: u64, answer: &Answer, done: Done, odd: bool) {
        let seconds = text(&answer.headers, header::RETRY_AFTER.as_str()).parse();
        let answer = suite_checker::Answer {
            status: answer.status.as_u16(),
            body: digest(&answer.body),
            done,
            wait: seconds.ok().map(|it: u64| it * 1_000_000),
            odd,
        };
        self.stage.record(Event::Answered { request, answer });
    }

    fn issued(&self, body: &[u8], lasts: Duration, audience: String) -> Done {
        let reply = json(body);
        let text = reply["access_token"].as_str().unwrap_or_default();
        let token = self.stage.next(Number::Token);
        self.stage.confide(text);
        locked(&self.tokens).insert(text.to_owned(), token);
        Done::Issued {
            token,
            audience,
            stated: reply["expires_in"].as_u64().map(|it| it * 1_000_000),
            lasts: micros(lasts),
        }
    }
}

impl Parcel {
    fn is_exchange(&self) -> bool {
        self.head.uri.path() == "/oauth/token"
    }

    fn audience(&self) -> String {
        field(&String::from_utf8_lossy(&self.body), "audience")
    }

    fn target(&self) -> &str {
        let target = self.head.uri.path_and_query();
        target.map_or("/", http::uri::PathAndQuery::as_str)
    }

    /// Returns the request with the server's own address.
    fn into_request(self) -> Request<Full<Bytes>> {
        let uri = uri(APPS[self.app].2, self.target());
        let mut request = Request::from_parts(self.head, self.body.into());
        *request.uri_mut() = uri;
        request.headers_mut().remove(header::HOST);
        request
    }
}

/// Returns the indexes of the installation and the application at a host.
fn place(host: &str) -> (usize, usize) {
    let mut parts = host.split('.');
    let (app, name) = (parts.next(), parts.next());
    let app = APPS.iter().position(|it| Some(it.2) == app);
    let name = NAMES.iter().position(|it| Some(*it) == name);
    name.zip(app).expect("a host of this simulation")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .and_then(|it| it.to_str().ok())
        .unwrap_or_default()
}

/// Returns a field of a form, with colons and slashes unescaped.
fn field(form: &str, name: &str) -> String {
    let mut fields = form.split('&').filter_map(|it| it.split_once('='));
    let value = fields.find(|it| it.0 == name).map_or("", |it| it.1);
    value.replace("%3A", ":").replace("%2F", "/")
}

pub(super) fn body_digest(body: &[u8]) -> u64 {
    if body.is_empty() { 0 } else { digest(body) }
}

async fn wait(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}
