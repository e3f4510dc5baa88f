//! The client credentials grant (RFC 6749 section 4.4).

use std::sync::Arc;

use http::HeaderMap;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::Instrument as _;
use url::Url;

use crate::macros::debug_fields;
use crate::observe::active::{AttemptSpan, Server};
use crate::observe::events::{AttemptAttributes, ErrorType, ObservedAttempt};
use crate::observe::observers::Observers;
use crate::operation::Method;
use crate::policy::random::RandomSource;
use crate::secret::redactor::{RecentSecrets, Redactor};
use crate::token::credentials::{ClientAuthentication, ClientCredentials, CredentialSource};
use crate::token::error::{TokenError, TokenErrorKind, catch_panic};
use crate::token::policy::TokenPolicy;
use crate::token::source::{AccessToken, TokenFuture, TokenRequest, TokenSource};
use crate::token::{lifetime, wire};
use crate::transport::connections::Sender;
use crate::transport::error::{SendState, TransportError, describe_target, is_tls, root_cause};
use crate::transport::reply_body::{self, BodyError};
use crate::transport::request_body::{Outgoing, SendTracker};

const PROXY_AUTHENTICATION_REQUIRED: u16 = 407;

/// Requests tokens from a token endpoint with client credentials.
///
/// Each request retries transient failures (a lost connection, a timeout, 5xx, 429, 408) a few times. Any other failure
/// is final.
pub struct ClientCredentialsSource {
    pub(crate) sender: Sender,
    pub(crate) agent: Option<Arc<HeaderValue>>,
    pub(crate) token_url: Arc<Url>,
    pub(crate) credentials: Arc<dyn CredentialSource>,
    pub(crate) policy: Arc<TokenPolicy>,
    pub(crate) random: RandomSource,
    /// The proxy in front of the endpoint, if known.
    pub(crate) proxy: Option<String>,
    /// Recent credentials and tokens, which the endpoint may repeat.
    pub(crate) recent: Arc<RecentSecrets>,
    pub(crate) observers: Observers,
    pub(crate) server: Server,
}

impl ClientCredentialsSource {
    /// Creates a source that requests tokens from `token_url`. The client must not follow redirects, because a 307
    /// would forward the secret.
    pub fn new(
        sender: impl Into<Sender>,
        token_url: Url,
        credentials: impl CredentialSource,
        policy: &TokenPolicy,
    ) -> Self {
        let (credentials, policy) = (Arc::new(credentials), Arc::new(policy.clone()));
        Self::of(sender.into(), token_url, credentials, policy)
    }

    pub(crate) fn of(
        sender: Sender,
        token_url: Url,
        credentials: Arc<dyn CredentialSource>,
        policy: Arc<TokenPolicy>,
    ) -> Self {
        Self {
            sender,
            agent: None,
            server: Server::of(&token_url),
            token_url: Arc::new(token_url),
            credentials,
            policy,
            random: RandomSource::default(),
            proxy: None,
            recent: Arc::default(),
            observers: Observers::default(),
        }
    }

    async fn exchange(&self, request: &TokenRequest) -> Result<AccessToken, TokenError> {
        let mut attempt = 1;
        loop {
            let error = match self.attempt(attempt, request).await {
                Ok(token) => return Ok(token),
                Err(error) => error,
            };
            let asked = error.retry_after().unwrap_or_default();
            let last = attempt >= self.policy.attempts || !error.is_retryable();
            if last || asked > self.policy.max_retry_after {
                return Err(error);
            }
            // Wait at least as long as the server asked, plus jitter so that clients don't retry simultaneously.
            let backoff = (self.policy.backoff).full_jitter(attempt, self.random.fraction());
            let wait = asked.saturating_add(backoff);
            tracing::debug!(
                name: "suite.token.exchange_retry",
                attempt,
                wait_s = wait.as_secs_f64(),
                error = %error,
                "token request will be retried"
            );
            sleep(wait).await;
            attempt += 1;
        }
    }

    async fn current_credentials(&self) -> Result<ClientCredentials, TokenError> {
        // Call the source inside the future, because the call itself may panic.
        let future = async { self.credentials.credentials().await };
        let result = catch_panic("the credential source", future).await;
        let credentials = result.map_err(|error| error.redacted(&self.redactor()))?;
        credentials.keep(&self.recent);
        match credentials.empty_fields().next() {
            // The value may be empty only briefly, for instance while a file is being written.
            Some(field) => Err(TokenError::new(TokenErrorKind::Source)
                .with_description(format!("the credential has an empty {field}"))
                .with_retryable(true)),
            None => Ok(credentials),
        }
    }

    /// Makes one attempt with the current credential, in its own span, and reports it to observers.
    async fn attempt(
        &self,
        number: u32,
        request: &TokenRequest,
    ) -> Result<AccessToken, TokenError> {
        let credentials = self.current_credentials().await?;
        let started = Instant::now();
        let mut outgoing = self.post(&credentials, request)?;
        let attempt = ObservedAttempt {
            call: None,
            installation: self.observers.installation(),
            number,
            method: Method::Post,
            template: self.token_url.path(),
            server_address: &self.server.address,
            server_port: self.server.port,
        };
        let Outgoing { url, headers, .. } = &mut outgoing;
        let mut attempt_span = AttemptSpan::begin(&self.observers, attempt, started, url, headers);
        let mut attributes = AttemptAttributes::default();
        let span = attempt_span.span.clone();
        let result = self
            .send(outgoing, request, &mut attributes)
            .instrument(span)
            .await;
        attempt_span.received();
        let error = result.as_ref().err();
        attributes.failure =
            error.map(|error| ErrorType::new(error.status(), error.kind().as_str()));
        attributes.request_id = error.and_then(TokenError::request_id);
        attempt_span.end(&attributes);
        result.map(|token| token.with_requested_at(started))
    }

    async fn send(
        &self,
        outgoing: Outgoing,
        request: &TokenRequest,
        attributes: &mut AttemptAttributes<'_>,
    ) -> Result<AccessToken, TokenError> {
        let until = lifetime::later(Instant::now(), self.policy.exchange_timeout);
        let unproven = self.sender.connect_timeout().is_none();
        let tracker = unproven.then(SendTracker::default);
        let sending = self.sender.send(outgoing, tracker.as_ref(), until);
        let sent = timeout_at(until, sending).await;
        let mut response = sent
            .map_err(|_elapsed| self.timeout())?
            .map_err(|error| self.failure(error))?;
        let status = response.status;
        (attributes.status, attributes.version) = (Some(status), Some(response.version));
        let limit = self.policy.max_response_bytes;
        let read = reply_body::read_secret(&mut response, limit, until).await;
        let read = read.map_err(|error| self.body_failure(error));
        if (200..300).contains(&status) {
            return wire::success(&read?, request, &self.redactor())
                .map_err(|error| error.with_status(status));
        }
        if status == PROXY_AUTHENTICATION_REQUIRED {
            return Err(self.proxy_failure());
        }
        // The status alone decides. An unreadable body is treated as empty.
        let body = read.unwrap_or_default();
        let mut redactor = self.redactor();
        redactor.add_secrets_of_reply(&body);
        let headers = &response.headers;
        Err(wire::failure(status, headers, &body, &redactor))
    }

    fn post(
        &self,
        credentials: &ClientCredentials,
        request: &TokenRequest,
    ) -> Result<Outgoing, TokenError> {
        const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, FORM);
        if let Some(agent) = &self.agent {
            headers.insert(USER_AGENT, HeaderValue::clone(agent));
        }
        if credentials.method() == ClientAuthentication::Basic {
            let basic = wire::basic(credentials)?;
            self.recent.keep([basic.encoded()]);
            headers.insert(AUTHORIZATION, basic.0);
        }
        Ok(Outgoing {
            method: http::Method::POST,
            url: Url::clone(&self.token_url),
            headers,
            body: Some(wire::body(credentials, request)),
        })
    }

    fn timeout(&self) -> TokenError {
        let endpoint = describe_target(&self.token_url, self.proxy.as_deref());
        let timeout = self.policy.exchange_timeout;
        TokenError::new(TokenErrorKind::Timeout)
            .with_description(format!("{endpoint} did not answer within {timeout:?}"))
    }

    fn body_failure(&self, error: BodyError) -> TokenError {
        let limit = self.policy.max_response_bytes;
        match error {
            BodyError::TooLarge(_) => wire::malformed(&format!(
                "it has more than {limit} bytes; check the address of the token endpoint, or raise `max_response_bytes` of \
                 the token policy"
            )),
            BodyError::Broken(error) => self.failure(error),
            BodyError::Late => self.timeout(),
            BodyError::Encoded(_) => {
                wire::malformed("it is compressed, and its transport did not decode it")
            }
        }
    }

    /// Returns the error for a 407. The proxy did not pass the request on.
    fn proxy_failure(&self) -> TokenError {
        let proxy = match &self.proxy {
            Some(proxy) => format!("the proxy {proxy}"),
            None => "an intermediate proxy".to_owned(),
        };
        TokenError::new(TokenErrorKind::Unreachable)
            .with_status(PROXY_AUTHENTICATION_REQUIRED)
            .with_description(format!("{proxy} requires a credential"))
            .with_retryable(false)
    }

    fn failure(&self, error: TransportError) -> TokenError {
        let mut target = describe_target(&self.token_url, self.proxy.as_deref());
        if error.send_state() == SendState::NotSent {
            target += &self.sender.or_proxy(Some(&error));
        }
        let error = transport_failure(error, &target);
        // A transport may quote the request.
        error.redacted(&self.redactor())
    }

    /// Returns a redactor for all secrets that the endpoint may repeat.
    fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::default();
        self.recent.add_secrets_to(&mut redactor);
        redactor
    }
}

impl TokenSource for ClientCredentialsSource {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(self.exchange(request))
    }
}

// Without the query, which may contain a key.
debug_fields! {
    ClientCredentialsSource |it|
    token_url: it.token_url.origin().ascii_serialization() + it.token_url.path()
}

/// Converts a transport error into a token error that names the endpoint's host, port and proxy, but no secret.
fn transport_failure(error: TransportError, endpoint: &str) -> TokenError {
    let kind = match error.send_state() {
        SendState::Redirected => TokenErrorKind::Malformed,
        _ if error.is_timeout() => TokenErrorKind::Timeout,
        _ => TokenErrorKind::Unreachable,
    };
    // A retry can't fix a bad certificate or a malformed request.
    let lasting = matches!(
        error.send_state(),
        SendState::Unsendable | SendState::Redirected
    );
    let retryable = !lasting && !is_tls(&error);
    let root = root_cause(&error);
    TokenError::new(kind)
        .with_description(format!("{endpoint}: {root}"))
        .with_retryable(retryable)
        .with_cause(error)
}
