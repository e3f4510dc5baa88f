//! The client credentials grant (RFC 6749 section 4.4).

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method};
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;

use crate::policy::chance::roll;
use crate::secret::confidential::{Confidential, Recent};
use crate::token::credentials::{ClientAuthentication, ClientCredentials};
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::form::{self, Basic};
use crate::token::policy::TokenPolicy;
use crate::token::source::{AccessToken, TokenFuture, TokenRequest, TokenSource};
use crate::token::{lifetime, reply, transport};
use crate::transport::body::{self, Unread};
use crate::transport::cause;
use crate::transport::error::TransportError;
use crate::transport::outgoing::Outgoing;
use crate::transport::request::Begun;
use crate::transport::sender::Sender;

/// The status of a proxy that wants a credential.
const WANTS_PROXY_CREDENTIAL: u16 = 407;

/// Exchanges client credentials for tokens at a token endpoint.
///
/// Each exchange retries transient failures (a lost connection, a timeout, 5xx, 429, 408) a few times. Any other failure is
/// final.
pub struct ClientCredentialsSource {
    sender: Sender,
    agent: Option<HeaderValue>,
    token_url: Arc<Url>,
    credentials: Arc<ClientCredentials>,
    /// Made once. If that fails, every exchange returns the error.
    authorization: Result<Option<Basic>, TokenError>,
    policy: Arc<TokenPolicy>,
    /// The proxy in front of the endpoint, if it is known.
    proxy: Option<String>,
    /// Recent tokens, which the endpoint may repeat.
    given: Arc<Recent>,
}

impl ClientCredentialsSource {
    /// A source that exchanges at `token_url`. The client must not follow redirects: a 307 would take the secret along.
    pub fn new(
        sender: impl Into<Sender>,
        token_url: Url,
        credentials: ClientCredentials,
        policy: &TokenPolicy,
    ) -> Self {
        let authorization = match credentials.method() {
            ClientAuthentication::Basic => form::basic(&credentials).map(Some),
            ClientAuthentication::RequestBody => Ok(None),
        };
        Self {
            sender: sender.into(),
            agent: None,
            token_url: Arc::new(token_url),
            credentials: Arc::new(credentials),
            authorization,
            policy: Arc::new(policy.clone()),
            proxy: None,
            given: Arc::default(),
        }
    }

    /// Sets the user agent.
    pub(crate) fn by(mut self, agent: HeaderValue) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Sets the proxy that errors name.
    pub(crate) fn through(mut self, proxy: Option<String>) -> Self {
        self.proxy = proxy;
        self
    }

    /// Shares the policy and the recent tokens with the cache of its tokens.
    pub(crate) fn sharing(mut self, policy: &Arc<TokenPolicy>, recent: &Arc<Recent>) -> Self {
        (self.policy, self.given) = (Arc::clone(policy), Arc::clone(recent));
        self
    }

    pub(crate) fn token_url(&self) -> &Arc<Url> {
        &self.token_url
    }

    pub(crate) fn credentials(&self) -> &Arc<ClientCredentials> {
        &self.credentials
    }

    async fn exchange(&self, request: &TokenRequest) -> Result<AccessToken, TokenError> {
        let body = form::body(&self.credentials, request);
        let mut attempt = 1;
        loop {
            let sent = Instant::now();
            let error = match self.attempt(body.clone(), request).await {
                Ok(token) => return Ok(token.with_requested_at(sent)),
                Err(error) => error,
            };
            let asked = error.retry_after().unwrap_or_default();
            let last = attempt >= self.policy.attempts || asked > self.policy.max_retry_after;
            if last || !error.is_retryable() {
                return Err(error);
            }
            // Never earlier than asked, and not all clients at once.
            let wait = asked.saturating_add(self.policy.backoff.full_jitter(attempt, roll()));
            tracing::debug!(attempt, error = %error, ?wait, "token exchange will be retried");
            sleep(wait).await;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        body: Bytes,
        request: &TokenRequest,
    ) -> Result<AccessToken, TokenError> {
        let timeout = self.policy.exchange_timeout;
        let until = lifetime::later(Instant::now(), timeout);
        let late = || {
            let target = cause::target(&self.token_url, self.proxy.as_deref());
            TokenError::new(TokenErrorKind::Timeout)
                .with_description(format!("{target} did not answer within {timeout:?}"))
        };
        let begun = self.sender.needs_watching().then(Begun::default);
        let sending = self.sender.send(self.post(body)?, begun.as_ref());
        let sent = timeout_at(until, sending).await;
        let mut response = sent
            .map_err(|_elapsed| late())?
            .map_err(|error| self.failure(error))?;
        let status = response.status();
        let limit = self.policy.max_response_bytes;
        let read = body::read_secret(&mut response, limit, until).await;
        let read = read.map_err(|unread| match unread {
            Unread::TooLarge(_) => reply::malformed(&format!(
                "it has more than {limit} bytes; check the address of the token endpoint, or raise `max_response_bytes` of \
                 the token policy"
            )),
            Unread::Broken(error) => self.failure(error),
            Unread::Late => late(),
            Unread::Encoded(_) => {
                reply::malformed("it is compressed, and its transport did not decode it")
            }
        });
        if (200..300).contains(&status) {
            let token = reply::success(&read?, request, &self.confidential())
                .map_err(|error| error.with_status(status))?;
            self.given.keep(token.expose());
            return Ok(token);
        }
        if status == WANTS_PROXY_CREDENTIAL {
            return Err(self.stopped());
        }
        // The status alone decides. A body that cannot be read explains nothing.
        let body = read.unwrap_or_default();
        let mut confidential = self.confidential();
        confidential.add_secrets_of(&body);
        let headers = response.headers();
        Err(reply::failure(status, headers, &body, &confidential))
    }

    fn post(&self, body: Bytes) -> Result<Outgoing, TokenError> {
        const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, FORM);
        if let Some(agent) = &self.agent {
            headers.insert(USER_AGENT, agent.clone());
        }
        if let Some(basic) = self.authorization.as_ref().map_err(TokenError::clone)? {
            headers.insert(AUTHORIZATION, basic.0.clone());
        }
        Ok(Outgoing {
            method: Method::POST,
            url: Url::clone(&self.token_url),
            headers,
            body: Some(body),
        })
    }

    /// The error of a 407: the request did not pass the proxy.
    fn stopped(&self) -> TokenError {
        let proxy = match &self.proxy {
            Some(proxy) => format!("the proxy {proxy}"),
            None => "a proxy in between".to_owned(),
        };
        TokenError::new(TokenErrorKind::Unreachable)
            .with_status(WANTS_PROXY_CREDENTIAL)
            .with_description(format!("{proxy} wants a credential"))
            .with_retryable(false)
    }

    fn failure(&self, error: TransportError) -> TokenError {
        transport::failure(error, &self.token_url, self.proxy.as_deref())
    }

    /// What the endpoint may repeat and no text may show.
    fn confidential(&self) -> Confidential {
        let mut confidential = Confidential::default();
        self.credentials.confide(&mut confidential);
        self.given.confide(&mut confidential);
        if let Ok(Some(basic)) = &self.authorization {
            confidential.add_secret(basic.encoded());
        }
        confidential
    }
}

impl TokenSource for ClientCredentialsSource {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(self.exchange(request))
    }
}

impl fmt::Debug for ClientCredentialsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the query, which may contain a key.
        let origin = self.token_url.origin().ascii_serialization();
        f.debug_struct("ClientCredentialsSource")
            .field(
                "token_url",
                &format_args!("{origin}{}", self.token_url.path()),
            )
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
