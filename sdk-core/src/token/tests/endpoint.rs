//! The exchange against a scripted peer on loopback.

use std::collections::VecDeque;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::*;
use crate::policy::retry::Backoff;
use crate::token::credentials::ClientCredentials;

/// Answers one request per connection with raw bytes, then closes the connection. Keeps the requests.
struct Peer {
    url: Url,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    async fn start(replies: impl IntoIterator<Item = String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = Self::at("http", &listener, "/oauth/token");
        let seen = Arc::clone(&peer.seen);
        let mut replies: VecDeque<String> = replies.into_iter().collect();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                let reply = replies.pop_front().expect("an unexpected request");
                let _ = stream.write_all(reply.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        peer
    }

    /// A peer at the address of a listener, which something else answers for, if anything.
    fn at(scheme: &str, listener: &TcpListener, path: &str) -> Self {
        let url = format!("{scheme}://{}{path}", listener.local_addr().unwrap());
        Self {
            url: url.parse().unwrap(),
            seen: Arc::default(),
        }
    }

    /// Runs one exchange, without waits.
    async fn exchange(&self) -> Answer {
        self.exchange_with(TokenPolicy::default()).await
    }

    async fn exchange_with(&self, mut policy: TokenPolicy) -> Answer {
        policy.backoff = Backoff::none();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        let credentials = ClientCredentials::new("we:ird", "canary+secret");
        let source = ClientCredentialsSource::new(client, self.url.clone(), credentials, &policy);
        let request = TokenRequest::new()
            .with_audience("crm")
            .with_scopes(["crm:read"]);
        source.token(&request).await
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        request.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        let Some((head, body)) = request.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        if count == 0 || body.len() >= length.unwrap().parse().unwrap() {
            return request;
        }
    }
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

fn granted() -> String {
    reply(
        "200 OK",
        "",
        r#"{"access_token":"t-1","token_type":"bearer","expires_in":"240","scope":"crm:read"}"#,
    )
}

fn broken(status: &str) -> String {
    reply(status, "", "<html>sorry</html>")
}

/// The error of an exchange, its kind, and whether it is retryable.
async fn refused(peer: &Peer) -> (TokenError, (TokenErrorKind, bool)) {
    let error = peer.exchange().await.unwrap_err();
    (error.clone(), kind(&error))
}

#[tokio::test]
async fn an_exchange_is_one_form_post_with_encoded_basic_authentication() {
    let peer = Peer::start([granted()]).await;

    let token = peer.exchange().await.unwrap();

    assert_eq!(token.lifetime(), Some(Duration::from_secs(240)));
    assert_eq!(token.scopes().unwrap(), ["crm:read"]);
    let seen = peer.seen();
    let (head, body) = seen[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /oauth/token HTTP/1.1\r\n"), "{head}");
    for header in [
        "content-type: application/x-www-form-urlencoded",
        "accept: application/json",
        // base64("we%3Aird:canary%2Bsecret")
        "authorization: Basic d2UlM0FpcmQ6Y2FuYXJ5JTJCc2VjcmV0",
    ] {
        assert!(head.contains(header), "{head}");
    }
    let form = "grant_type=client_credentials&audience=crm&scope=crm%3Aread";
    assert_eq!(body, form);
}

#[tokio::test]
async fn transient_failures_are_retried_until_one_attempt_succeeds() {
    // A 500, a connection that closes without a reply, then a token.
    let peer = Peer::start([broken("500 Oops"), String::new(), granted()]).await;
    assert!(peer.exchange().await.is_ok());
    assert_eq!(peer.seen().len(), 3);
}

#[tokio::test]
async fn fault_02_retries_are_bounded() {
    let peer = Peer::start((0..9).map(|_| broken("503 Busy"))).await;
    let (error, kind) = refused(&peer).await;
    assert_eq!(kind, (TokenErrorKind::Unavailable, true));
    assert_eq!((error.status(), peer.seen().len()), (Some(503), 3));
}

#[tokio::test]
async fn fault_03_refusals_are_not_retried() {
    let body = r#"{"error":"invalid_client","error_description":"no such canary+secret"}"#;
    let peer = Peer::start([reply("401 Unauthorized", "", body)]).await;
    let error = peer.exchange().await.unwrap_err();
    assert_eq!(error.code(), Some("invalid_client"));
    assert!(!format!("{error} {error:?}").contains("canary"));
    assert_eq!(peer.seen().len(), 1);
}

#[tokio::test]
async fn fault_28_a_redirect_takes_no_secret_anywhere() {
    for status in [
        "301 Moved",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let peer = Peer::start([reply(status, "location: /elsewhere\r\n", "")]).await;
        let (_, kind) = refused(&peer).await;
        assert_eq!(kind, (TokenErrorKind::Malformed, false));
        assert_eq!(peer.seen().len(), 1);
    }
}

#[tokio::test]
async fn fault_30_a_reply_is_read_up_to_its_limit() {
    let huge = "x".repeat(70 * 1024);
    let replies = ["200 OK", "400 Bad Request"].map(|status| reply(status, "", &huge));
    let peer = Peer::start(replies).await;
    let (error, _) = refused(&peer).await;
    let why = "unusable token reply: it has more than 65536 bytes; check the address of the token endpoint, or raise \
               `max_response_bytes` of the token policy";
    assert_eq!(error.to_string(), why);
    let (error, kind) = refused(&peer).await;
    assert_eq!(kind, (TokenErrorKind::Refused, false));
    assert_eq!(error.code(), None);
}

#[tokio::test]
async fn a_short_retry_after_is_waited_for_and_a_long_one_ends_the_exchange() {
    let busy = |wait: &str| reply("429 Slow Down", &format!("retry-after: {wait}\r\n"), "");
    let peer = Peer::start([busy("1"), granted(), busy("100000000000000")]).await;

    let start = Instant::now();
    assert!(peer.exchange().await.is_ok());
    assert!(start.elapsed() >= Duration::from_secs(1));
    let long = Duration::from_secs(100_000_000_000_000);
    assert_eq!(refused(&peer).await.0.retry_after(), Some(long));
    assert_eq!(peer.seen().len(), 3);
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_retried() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"access_token\":\"can".to_owned();
    let peer = Peer::start([cut, granted()]).await;
    assert!(peer.exchange().await.is_ok());
    assert_eq!(peer.seen().len(), 2);
}

#[tokio::test]
async fn errors_tell_an_absent_endpoint_from_one_that_never_answers() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let peer = |listener| Peer::at("http", listener, "/token?key=canary");
    let (absent, mute) = (peer(&gone), peer(&silent));
    drop(gone);

    let (error, reached) = refused(&absent).await;
    assert_eq!(reached, (TokenErrorKind::Unreachable, true));
    assert!(error.to_string().contains("refused"), "{error}");
    let printed = format!("{error} {error:?}");
    assert!(!printed.contains("canary"), "{printed}");

    let hasty = TokenPolicy {
        exchange_timeout: Duration::from_millis(20),
        ..TokenPolicy::default()
    };
    let error = mute.exchange_with(hasty).await.unwrap_err();
    assert_eq!(kind(&error), (TokenErrorKind::Timeout, true));
}

#[cfg(feature = "rustls")]
#[tokio::test]
async fn fault_14_a_tls_failure_is_not_retried() {
    // A peer that speaks plain text where TLS is expected.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let peer = Peer::at("https", &listener, "/token");
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counter.fetch_add(1, Ordering::Relaxed);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });

    let (error, kind) = refused(&peer).await;

    assert_eq!(kind, (TokenErrorKind::Unreachable, false), "{error:?}");
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}
