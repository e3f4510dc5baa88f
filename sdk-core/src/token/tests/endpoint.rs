//! The exchange against a scripted peer on loopback.

use std::collections::VecDeque;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::*;
use crate::policy::backoff::Backoff;
use crate::token::credentials::ClientCredentials;

/// Answers one request per connection with raw bytes, then closes; keeps what it was sent.
struct Peer {
    url: Url,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    async fn start(replies: impl IntoIterator<Item = String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/oauth/token", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut replies: VecDeque<String> = replies.into_iter().collect();
        tokio::spawn({
            let seen = Arc::clone(&seen);
            async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let request = read_request(&mut stream).await;
                    seen.lock().unwrap().push(request);
                    let reply = replies.pop_front().expect("an unexpected request");
                    let _ = stream.write_all(reply.as_bytes()).await;
                    let _ = stream.shutdown().await;
                }
            }
        });
        Self {
            url: url.parse().unwrap(),
            seen,
        }
    }

    /// Runs one exchange, without waits.
    async fn exchange(&self) -> Answer {
        self.exchange_with(|policy| policy).await
    }

    async fn exchange_with(&self, adjust: impl FnOnce(TokenPolicy) -> TokenPolicy) -> Answer {
        let policy = adjust(TokenPolicy::default().with_backoff(Backoff::none()));
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

#[tokio::test]
async fn an_exchange_is_one_form_post_with_encoded_basic_authentication() {
    let peer = Peer::start([granted()]).await;

    let token = peer.exchange().await.unwrap();

    assert_eq!(token.lifetime(), Some(Duration::from_secs(240)));
    assert_eq!(token.scopes().unwrap(), ["crm:read"]);
    let seen = peer.seen();
    let (head, body) = seen[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /oauth/token HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains("content-type: application/x-www-form-urlencoded"),
        "{head}"
    );
    assert!(head.contains("accept: application/json"), "{head}");
    // base64("we%3Aird:canary%2Bsecret")
    assert!(
        head.contains("authorization: Basic d2UlM0FpcmQ6Y2FuYXJ5JTJCc2VjcmV0"),
        "{head}"
    );
    assert_eq!(
        body,
        "grant_type=client_credentials&audience=crm&scope=crm%3Aread"
    );
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_a_success_ends_it() {
    // A 500, a connection closed without a word, then a token.
    let peer = Peer::start([broken("500 Oops"), String::new(), granted()]).await;
    assert!(peer.exchange().await.is_ok());
    assert_eq!(peer.seen().len(), 3);
}

#[tokio::test]
async fn fault_02_retries_are_bounded() {
    let peer = Peer::start((0..9).map(|_| broken("503 Busy"))).await;
    let error = peer.exchange().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (TokenErrorKind::Unavailable, Some(503))
    );
    assert_eq!(peer.seen().len(), 3);
}

#[tokio::test]
async fn fault_03_refusals_are_not_tried_again() {
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
        let error = peer.exchange().await.unwrap_err();
        assert_eq!(
            (error.kind(), error.is_retryable()),
            (TokenErrorKind::Malformed, false)
        );
        assert_eq!(peer.seen().len(), 1);
    }
}

#[tokio::test]
async fn fault_30_a_reply_is_read_up_to_its_limit() {
    let huge = "x".repeat(70 * 1024);
    let peer = Peer::start([
        reply("200 OK", "", &huge),
        reply("400 Bad Request", "", &huge),
    ])
    .await;
    let error = peer.exchange().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "unusable token reply: the reply is too large"
    );
    let error = peer.exchange().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (TokenErrorKind::Refused, None)
    );
}

#[tokio::test]
async fn retry_after_is_waited_for_if_it_is_short_and_ends_the_exchange_if_it_is_long() {
    let busy = |pause: &str| reply("429 Slow Down", &format!("retry-after: {pause}\r\n"), "");
    let peer = Peer::start([busy("1"), granted(), busy("100000000000000")]).await;

    let start = Instant::now();
    assert!(peer.exchange().await.is_ok());
    assert!(start.elapsed() >= Duration::from_secs(1));
    let error = peer.exchange().await.unwrap_err();
    assert_eq!(
        error.retry_after(),
        Some(Duration::from_secs(100_000_000_000_000))
    );
    assert_eq!(peer.seen().len(), 3);
}

#[tokio::test]
async fn a_cut_reply_is_tried_again() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"access_token\":\"can".to_owned();
    let peer = Peer::start([cut, granted()]).await;
    assert!(peer.exchange().await.is_ok());
    assert_eq!(peer.seen().len(), 2);
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_or_never_answers_says_so() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let peer = |listener: &TcpListener| Peer {
        url: format!("http://{}/token?key=canary", listener.local_addr().unwrap())
            .parse()
            .unwrap(),
        seen: Arc::default(),
    };
    let (absent, mute) = (peer(&gone), peer(&silent));
    drop(gone);

    let error = absent.exchange().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.is_retryable()),
        (TokenErrorKind::Unreachable, true)
    );
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(
        !format!("{error} {error:?}").contains("canary"),
        "{error:?}"
    );
    let error = mute
        .exchange_with(|policy| policy.with_exchange_timeout(Duration::from_millis(20)))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.is_retryable()),
        (TokenErrorKind::Timeout, true)
    );
}

#[cfg(feature = "rustls")]
#[tokio::test]
async fn fault_14_a_tls_failure_is_not_tried_again() {
    // A peer that speaks plain text where TLS is expected.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/token", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    tokio::spawn({
        let connections = Arc::clone(&connections);
        async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                connections.fetch_add(1, Ordering::Relaxed);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        }
    });
    let peer = Peer {
        url: url.parse().unwrap(),
        seen: Arc::default(),
    };

    let error = peer.exchange().await.unwrap_err();

    assert_eq!(
        (error.kind(), error.is_retryable()),
        (TokenErrorKind::Unreachable, false),
        "{error:?}"
    );
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[test]
fn a_secret_given_as_such_is_taken_as_it_is() {
    let credentials = ClientCredentials::new("id", "canary");
    assert!(!format!("{credentials:?}").contains("canary"));
}
