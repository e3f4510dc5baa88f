//! Handwritten reqwest code of a good engineer: typed structs, one client with timeouts, a cached token, a key per
//! command, errors by status.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use serde::Deserialize;
use tokio::sync::RwLock;
use uuid::Uuid;

use super::{Client, Failure, Target};
use crate::model::{CommandResult, EventCommand, Page, usual::Opportunity};
use crate::payload;

// The two clients differ only in their types, and have no common trait.
macro_rules! by_hand {
    ($name:ident, $http:ty, $wrap:path) => {
        #[derive(Clone)]
        pub struct $name {
            http: $http,
            base: Arc<str>,
            cached: Arc<RwLock<Option<(String, Instant)>>>,
            event: EventCommand<DateTime<Utc>>,
        }

        impl Client for $name {
            async fn new(target: &Target) -> Result<Self, Failure> {
                Ok(Self {
                    http: $wrap(target.limited()?.build()?),
                    base: target.origin.as_str().into(),
                    cached: Arc::default(),
                    event: serde_json::from_value(payload::event())?,
                })
            }

            async fn page(&self) -> Result<u64, Failure> {
                let request = self
                    .http
                    .get(format!("{}{}", self.base, payload::PAGE_PATH))
                    .query(&[("limit", payload::ITEMS)])
                    .bearer_auth(self.token().await?);
                let response = request.send().await?.error_for_status()?;
                let page: Page<Opportunity> = response.json().await?;
                Ok(page.items.iter().map(|item| item.record_version).sum())
            }

            async fn command(&self) -> Result<u64, Failure> {
                let request = self
                    .http
                    .post(format!("{}{}", self.base, payload::COMMAND_PATH))
                    .bearer_auth(self.token().await?)
                    .header("Idempotency-Key", Uuid::new_v4().to_string())
                    .json(&self.event);
                let response = request.send().await?.error_for_status()?;
                let result: CommandResult = response.json().await?;
                Ok(result.record_version)
            }
        }

        impl $name {
            /// Returns a token that is cached until shortly before it expires.
            async fn token(&self) -> Result<String, Failure> {
                let live = |cached: &Option<(String, Instant)>| match cached {
                    Some((token, until)) if Instant::now() < *until => Some(token.clone()),
                    _ => None,
                };
                if let Some(token) = live(&*self.cached.read().await) {
                    return Ok(token);
                }
                let mut cached = self.cached.write().await;
                if let Some(token) = live(&cached) {
                    return Ok(token);
                }
                let request = self
                    .http
                    .post(format!("{}/oauth/token", self.base))
                    .basic_auth("bench", Some("secret"))
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .body("grant_type=client_credentials");
                let token: Token = request.send().await?.error_for_status()?.json().await?;
                let lifetime = Duration::from_secs(token.expires_in).mul_f64(0.9);
                *cached = Some((token.access_token.clone(), Instant::now() + lifetime));
                Ok(token.access_token)
            }
        }
    };
}

by_hand!(Handwritten, reqwest::Client, std::convert::identity);
by_hand!(Middleware, ClientWithMiddleware, retried);

fn retried(http: reqwest::Client) -> ClientWithMiddleware {
    let retry = ExponentialBackoff::builder().build_with_max_retries(2);
    let retry = RetryTransientMiddleware::new_with_policy(retry);
    ClientBuilder::new(http).with(retry).build()
}

#[derive(Deserialize)]
struct Token {
    access_token: String,
    expires_in: u64,
}
