//! Serves requests without sockets: an in-process call on the caller's runtime.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Body;
use tokio::sync::watch;
use tower_service::Service;

use super::body::ResponseBody;
use super::door::{Door, deliver, receive};
use super::headers;
use crate::app::App;
use crate::base::Base;
use crate::message::Request;
use crate::suite::Suite;

type Answered = io::Result<http::Response<ResponseBody>>;

/// A server as a [`tower_service::Service`], from [`ReferenceServer::service`](crate::ReferenceServer::service). It
/// routes requests by the origin in their URI, and uses no socket and no thread.
///
/// A call needs a Tokio runtime with timers, and waits on that runtime's clock.
///
/// As on a network, a request arrives when its body has been read to the end. From then on, the server counts, records
/// and commits it, even if the caller drops the call. A call that is dropped earlier sends nothing.
///
/// A failed call returns an I/O error with the kind that a socket would give. `ConnectionRefused` means that nothing
/// was sent and the body is untouched. Any other failure is `ConnectionReset`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::{BodyExt, Empty};
/// use sdk_reference_server::{Operation, ReferenceServer};
/// use tower_service::Service;
///
/// let server = ReferenceServer::in_memory();
/// let url = format!("{}/api/health", server.crm_url());
/// let request = http::Request::get(url).body(Empty::<&[u8]>::new())?;
///
/// let reply = server.service().call(request).await?;
///
/// assert_eq!(reply.status(), 200);
/// assert!(reply.into_body().collect().await?.to_bytes().starts_with(b"{"));
/// assert_eq!(server.attempts(Operation::GetHealth), 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct InMemoryService(Arc<Network>);

struct Network {
    suite: Arc<Suite>,
    doors: Vec<(Base, Door)>,
    /// Closes with the server.
    open: watch::Receiver<()>,
}

impl InMemoryService {
    pub(crate) fn new(suite: Arc<Suite>, open: watch::Receiver<()>) -> InMemoryService {
        let apps = App::all().map(|app| (suite.base(app).clone(), Door::App(app)));
        let control = suite.control.as_deref();
        let control = control.and_then(|at| Base::read("control", at).ok());
        let doors = apps.chain(control.map(|at| (at, Door::Control))).collect();
        InMemoryService(Arc::new(Network { suite, doors, open }))
    }
}

impl<B> Service<http::Request<B>> for InMemoryService
where
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Response = http::Response<ResponseBody>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Answered> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let network = Arc::clone(&self.0);
        Box::pin(async move { network.call(request).await })
    }
}

impl Network {
    async fn call<B>(&self, request: http::Request<B>) -> Answered
    where
        B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
    {
        let door = self.reach(&request)?;
        let mut open = self.open.clone();
        tokio::select! {
            biased;
            _ = open.changed() => Err(reset("the server was dropped")),
            answered = self.exchange(door, request) => answered.map_err(reset),
        }
    }

    /// Returns the target of a request, or the error for a refused connection.
    fn reach<B>(&self, request: &http::Request<B>) -> io::Result<Door> {
        let refused = |why: &str| Err(io::Error::new(io::ErrorKind::ConnectionRefused, why));
        let uri = request.uri();
        if self.open.has_changed().is_err() {
            return refused("the server was dropped");
        }
        let (scheme, host) = (uri.scheme_str(), uri.host());
        let (scheme, host) = (scheme.unwrap_or_default(), host.unwrap_or_default());
        let port = uri.port().map_or(String::new(), |port| format!(":{port}"));
        let sought = Base::read("uri", &format!("{scheme}://{host}{port}")).unwrap_or_default();
        // If several applications share an origin, the path decides.
        let fits = |at: &Base| uri.path().starts_with(&at.url[at.origin().len()..]);
        let found = self.doors.iter();
        let found = found.filter(|(at, _)| at.origin() == sought.url && fits(at));
        let found = found.max_by_key(|(at, _)| at.url.len());
        match found {
            None => refused(&format!(
                "no application of this server is at {scheme}://{host}"
            )),
            Some((_, Door::App(app))) if self.suite.refuses(*app, request.method(), uri.path()) => {
                refused("a scripted fault")
            }
            Some((_, door)) => Ok(*door),
        }
    }

    async fn exchange<B>(
        &self,
        door: Door,
        mut request: http::Request<B>,
    ) -> io::Result<http::Response<ResponseBody>>
    where
        B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
    {
        headers::name_host(&mut request);
        let (head, body) = request.into_parts();
        let method = head.method.clone();
        let suite = Arc::clone(&self.suite);
        let body = pin!(body);
        let received = receive(&suite, door.longest_body(&suite), &head.headers, body);
        let reply = match received.await {
            Ok(body) => {
                let mut request = Request::new(head, body);
                headers::announce_length(&mut request);
                // A separate task serves the request even if the caller drops the call.
                tokio::spawn(async move { door.answer(&suite, &request) }).await?
            }
            Err(problem) if problem.kind() == io::ErrorKind::FileTooLarge => {
                door.unread(&suite, &head.headers, &problem)
            }
            Err(problem) => return Err(problem),
        };
        let mut response = deliver(&self.suite, reply, &method).await?;
        headers::complete(&mut response);
        Ok(response)
    }
}

/// An error after which the request may have taken effect.
fn reset(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, why)
}

impl fmt::Debug for InMemoryService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origins = self.0.doors.iter().map(|(at, _)| &at.url);
        f.debug_list().entries(origins).finish()
    }
}
