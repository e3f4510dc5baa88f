//! reqwest by hand, as a good engineer would write it: typed structs, a shared client with limits, a cached token, a key
//! per command, errors by status.

use std::sync::Arc;
use std::time::Instant;

use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use tokio::sync::RwLock;
use uuid::Uuid;

use super::exchange::exchange;
use super::{Client, Failure, Seen, Target};
use crate::model::usual::{CommandResult, EventCommand, Page};
use crate::payload;

macro_rules! by_hand {
    ($(#[$docs:meta])* $name:ident, $http:ty, $wrap:path) => {
        $(#[$docs])*
        #[derive(Clone)]
        pub struct $name {
            http: $http,
            base: Arc<str>,
            tokens: Arc<Tokens>,
            event: EventCommand,
        }

        impl Client for $name {
            async fn new(target: &Target) -> Result<Self, Failure> {
                let http = target.limited()?.build()?;
                Ok(Self {
                    tokens: Arc::new(Tokens {
                        http: http.clone(),
                        origin: target.origin.clone(),
                        cached: RwLock::default(),
                    }),
                    http: $wrap(http),
                    base: target.origin.as_str().into(),
                    event: EventCommand::create(),
                })
            }

            async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
                let mut request = self
                    .http
                    .get(format!("{}{}", self.base, payload::PAGE_PATH))
                    .query(&[("limit", limit)])
                    .bearer_auth(self.tokens.get().await?);
                if let Some(cursor) = cursor {
                    request = request.query(&[("cursor", cursor)]);
                }
                let page: Page = request.send().await?.error_for_status()?.json().await?;
                Ok(page.seen())
            }

            async fn command(&self) -> Result<Seen, Failure> {
                let result: CommandResult = self
                    .http
                    .post(format!("{}{}", self.base, payload::COMMAND_PATH))
                    .bearer_auth(self.tokens.get().await?)
                    .header("Idempotency-Key", Uuid::new_v4().to_string())
                    .json(&self.event)
                    .send()
                    .await?
                    .error_for_status()?
                    .json()
                    .await?;
                Ok(result.seen())
            }
        }
    };
}

by_hand!(
    /// As it is.
    Handwritten,
    reqwest::Client,
    std::convert::identity
);

by_hand!(
    /// Sent through reqwest-middleware with its retry.
    Middleware,
    ClientWithMiddleware,
    retried
);

fn retried(http: reqwest::Client) -> ClientWithMiddleware {
    let retry = ExponentialBackoff::builder().build_with_max_retries(2);
    ClientBuilder::new(http)
        .with(RetryTransientMiddleware::new_with_policy(retry))
        .build()
}

/// A token that is kept until shortly before it expires.
struct Tokens {
    http: reqwest::Client,
    origin: String,
    cached: RwLock<Option<(String, Instant)>>,
}

impl Tokens {
    async fn get(&self) -> Result<String, Failure> {
        if let Some((token, until)) = &*self.cached.read().await
            && Instant::now() < *until
        {
            return Ok(token.clone());
        }
        let mut cached = self.cached.write().await;
        if let Some((token, until)) = &*cached
            && Instant::now() < *until
        {
            return Ok(token.clone());
        }
        let (token, lifetime) = exchange(&self.http, &self.origin).await?;
        *cached = Some((token.clone(), Instant::now() + lifetime.mul_f64(0.9)));
        Ok(token)
    }
}
