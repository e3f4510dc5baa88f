//! Token requests to an in-memory endpoint.

use std::collections::VecDeque;
use std::future::{pending, ready};
use std::io;

use bytes::Bytes;
use futures_util::stream;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;

use super::*;
use crate::token::credentials::ClientCredentials;
use crate::transport::connections::Sender;
use crate::transport::error::SendState;
use crate::transport::{RequestBody, ResponseBody, Transport, TransportError, TransportFuture};

type ScriptedResponse = Result<Response<ResponseBody>, TransportError>;

/// Returns these responses in order, and then never responds. Records the requests.
#[derive(Clone)]
struct Endpoint {
    responses: Arc<Mutex<VecDeque<ScriptedResponse>>>,
    requests: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Endpoint {
    fn new(responses: impl IntoIterator<Item = ScriptedResponse>) -> Self {
        Self {
            responses: Arc::new(Mutex::new(responses.into_iter().collect())),
            requests: Arc::default(),
        }
    }

    async fn request_token(&self) -> Answer {
        let sender = Sender::Custom(Arc::new(self.clone()));
        request_token_over(sender, "https://id.example/oauth/token").await
    }

    fn attempts(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

impl Transport for Endpoint {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head, body.into_bytes().unwrap());
        self.requests.lock().unwrap().push(request);
        match self.responses.lock().unwrap().pop_front() {
            Some(reply) => Box::pin(ready(reply)),
            None => Box::pin(pending()),
        }
    }
}

async fn request_token_over(sender: impl Into<Sender>, token_url: &str) -> Answer {
    let credentials = ClientCredentials::new("we:ird", "canary+secret");
    let policy = TokenPolicy::default();
    let url = token_url.parse().unwrap();
    let source = ClientCredentialsSource::new(sender, url, credentials, &policy);
    let request = TokenRequest::new()
        .with_audience("crm")
        .with_scopes(["crm:read"]);
    source.token(&request).await
}

fn reply(status: u16, body: impl Into<ResponseBody>) -> Response<ResponseBody> {
    let reply = Response::builder().status(status);
    reply.body(body.into()).unwrap()
}

fn granted() -> Response<ResponseBody> {
    let token =
        r#"{"access_token":"t-1","token_type":"bearer","expires_in":"240","scope":"crm:read"}"#;
    reply(200, token)
}

fn connection_reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

#[tokio::test(start_paused = true)]
async fn a_token_request_is_a_form_post_with_encoded_basic_authentication() {
    let endpoint = Endpoint::new([Ok(granted())]);

    let token = endpoint.request_token().await.unwrap();

    assert_eq!(token.lifetime(), Some(Duration::from_secs(240)));
    assert_eq!(token.scopes().unwrap(), ["crm:read"]);
    let requests = endpoint.requests.lock().unwrap();
    let request = &requests[0];
    assert_eq!(request.method(), "POST");
    assert_eq!(request.uri(), "https://id.example/oauth/token");
    for (name, value) in [
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "application/json"),
        // base64("we%3Aird:canary%2Bsecret")
        ("authorization", "Basic d2UlM0FpcmQ6Y2FuYXJ5JTJCc2VjcmV0"),
    ] {
        assert_eq!(request.headers()[name], value);
    }
    assert!(request.headers()[AUTHORIZATION].is_sensitive());
    let form = "grant_type=client_credentials&audience=crm&scope=crm%3Aread";
    assert_eq!(request.body(), form);
}

#[tokio::test(start_paused = true)]
async fn transient_failures_are_retried_until_an_attempt_succeeds() {
    let lost = Err(TransportError::unknown(connection_reset()));
    let cut = [
        Ok(Frame::data(Bytes::from(r#"{"access_token":"can"#))),
        Err(connection_reset()),
    ];
    let cut = reply(200, ResponseBody::new(StreamBody::new(stream::iter(cut))));
    for failure in [Ok(reply(500, "<html>sorry</html>")), lost, Ok(cut)] {
        let endpoint = Endpoint::new([failure, Ok(reply(503, "")), Ok(granted())]);
        assert!(endpoint.request_token().await.is_ok());
        assert_eq!(endpoint.attempts(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_retry_after_delays_the_retry_and_a_long_one_ends_the_renewal() {
    let busy = |wait: &str| {
        let reply = Response::builder().status(429).header("retry-after", wait);
        reply.body(ResponseBody::from("")).unwrap()
    };
    let start = Instant::now();
    let endpoint = Endpoint::new([Ok(busy("7")), Ok(granted())]);
    assert!(endpoint.request_token().await.is_ok());
    // At least as long as requested, plus jitter.
    let waited = start.elapsed().as_secs_f64();
    assert!((7.0..7.3).contains(&waited), "{waited} s");

    let longest = TokenPolicy::default().max_retry_after.as_secs().to_string();
    let endpoint = Endpoint::new([Ok(busy(&longest)), Ok(granted())]);
    assert!(endpoint.request_token().await.is_ok());

    let endpoint = Endpoint::new([Ok(busy("100000000000000"))]);
    let error = endpoint.request_token().await.unwrap_err();
    let long = Duration::from_secs(100_000_000_000_000);
    assert_eq!(error.retry_after(), Some(long));
    assert_eq!(endpoint.attempts(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_attempt_at_an_endpoint_that_never_responds_times_out() {
    let endpoint = Endpoint::new([]);
    let start = Instant::now();

    let error = endpoint.request_token().await.unwrap_err();

    assert_eq!(kind(&error), (TokenErrorKind::Timeout, true));
    let policy = TokenPolicy::default();
    assert_eq!(endpoint.attempts(), policy.attempts as usize);
    assert!(start.elapsed() >= policy.attempts * policy.exchange_timeout);
}

#[tokio::test(start_paused = true)]
async fn a_transport_failure_gets_the_kind_of_its_cause() {
    let late = TransportError::unknown("no pong").timed_out();
    let most = TokenPolicy::default().attempts as usize;
    let redirected = TransportError::at(SendState::Redirected, "to elsewhere");
    for (failure, expected, attempts) in [
        (late, (TokenErrorKind::Timeout, true), most),
        (redirected, (TokenErrorKind::Malformed, false), 1),
        (
            TransportError::rejected("odd"),
            (TokenErrorKind::Unreachable, false),
            1,
        ),
    ] {
        let endpoint = Endpoint::new((0..most).map(|_| Err(failure.clone())));
        let error = endpoint.request_token().await.unwrap_err();
        assert_eq!(kind(&error), expected, "{error}");
        assert_eq!(endpoint.attempts(), attempts);
    }
}

#[cfg(feature = "reqwest-013")]
#[tokio::test(start_paused = true)]
async fn the_error_of_an_unreachable_endpoint_does_not_contain_its_query() {
    // A reqwest client quotes the whole address, so this test uses a real client.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/token?key=canary", listener.local_addr().unwrap());
    drop(listener);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();

    let error = request_token_over(client, &url).await.unwrap_err();

    assert_eq!(kind(&error), (TokenErrorKind::Unreachable, true));
    assert!(error.to_string().contains("refused"), "{error}");
    let printed = format!("{error} {error:#?}");
    assert!(!printed.contains("canary"), "{printed}");
}
