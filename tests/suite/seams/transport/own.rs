use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::Request;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use sdk_core::transport::{RequestBody, Transport, TransportFuture};
use sdk_reference_server::{Operation, ReferenceServer};
use tower_service::Service;

use super::service::{Scripted, reply};
use crate::fixtures::{add_person, get_person};
use crate::samples::kick_off;
use crate::support::{Clients, builder_for};

/// A client that someone else configured, of another library than the SDK's own.
fn client_of_hyper() -> Client<HttpConnector, RequestBody> {
    Client::builder(TokioExecutor::new()).build_http()
}

/// A layer that counts, and names the request on its way.
#[derive(Clone)]
struct Counting<S> {
    inner: S,
    count: Arc<AtomicUsize>,
}

impl<S: Service<Request<RequestBody>>> Service<Request<RequestBody>> for Counting<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> S::Future {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let value = HeaderValue::from(number);
        request.headers_mut().insert("x-number", value);
        self.inner.call(request)
    }
}

#[tokio::test]
async fn calls_and_exchanges_go_through_a_client_of_hyper_with_its_layers() {
    let server = ReferenceServer::start().await;
    let count = Arc::new(AtomicUsize::new(0));
    let layered = Counting {
        inner: Counting {
            inner: client_of_hyper(),
            count: Arc::default(),
        },
        count: Arc::clone(&count),
    };
    let suite = builder_for(&server).transport(layered).build().unwrap();

    let people = suite.crm().people().list().limit(3).await.unwrap();
    assert_eq!(people.items().unwrap().len(), 3);
    let receipt = kick_off(&suite.calendar()).await.unwrap();
    assert_eq!(receipt.is_committed(), Some(true));

    // Two tokens and two calls.
    assert_eq!(count.load(Ordering::Relaxed), 4);
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
    let requests = server.requests();
    let numbered = |request: &sdk_reference_server::RecordedRequest| {
        request.headers.iter().any(|(name, _)| name == "x-number")
    };
    assert!(requests.iter().all(numbered));
}

#[tokio::test]
async fn a_transport_gets_the_whole_request() {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&bodies);
    let scripted = Scripted::new(move |request| {
        let heard = Arc::clone(&heard);
        async move {
            let bytes = request.into_body().into_bytes().unwrap();
            heard.lock().unwrap().push(bytes);
            Ok(reply(201, r#"{"outcome": "succeeded"}"#))
        }
    });
    let crm = scripted.suite().user_agent("billing/1.4").crm();
    add_person(&crm).await.unwrap();

    let request = scripted.seen().remove(0);
    assert_eq!(request.method, "POST");
    let uri = "https://crm.suite.test/base/api/crm/v1/commands";
    assert_eq!(request.uri, uri);
    let header = |name| request.headers[&name].to_str().unwrap();
    assert_eq!(header(AUTHORIZATION), "Bearer t-1");
    assert!(request.headers[AUTHORIZATION].is_sensitive());
    assert_eq!(header(ACCEPT), "application/json");
    assert_eq!(header(CONTENT_TYPE), "application/json");
    assert!(header(USER_AGENT).starts_with("billing/1.4 suite-sdk-rust/"));
    // It is the transport's affair, which knows how to write it.
    assert!(!request.headers.contains_key(HOST));
    let body = bodies.lock().unwrap().remove(0);
    assert!(body.starts_with(br#"{"commandType":"person.create""#));
}

/// A transport that is no service.
struct Direct(Scripted);

impl Transport for Direct {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        Transport::send(&self.0, request)
    }
}

#[tokio::test]
async fn a_type_of_the_callers_own_is_a_transport_too() {
    let scripted =
        Scripted::new(|_| async { Ok(reply(200, r#"{"publicReference": "PER-0123456789AB"}"#)) });
    let suite = scripted.suite().transport(Direct(scripted.clone()));
    get_person(&suite.crm()).await.unwrap();
    assert_eq!(scripted.seen().len(), 1);
}
