//! reqwest by hand, as a good engineer would write it: typed structs, a shared client with limits, a cached token, a key
//! per command, errors by status.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::RwLock;
use uuid::Uuid;

use super::exchange::exchange;
use super::{Client, Failure, Seen, Target};
use crate::model::usual::{CommandResult, EventCommand, Page};
use crate::payload;

#[derive(Clone)]
pub struct Handwritten {
    http: reqwest::Client,
    base: Arc<str>,
    tokens: Arc<Tokens>,
    event: EventCommand,
}

impl Client for Handwritten {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target
            .builder()?
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_secs(30))
            .user_agent("bench/1.0")
            .build()?;
        Ok(Self {
            tokens: Arc::new(Tokens::new(
                http.clone(),
                format!("{}/oauth/token", target.origin),
            )),
            http,
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

/// A token that is kept until shortly before it expires.
pub struct Tokens {
    http: reqwest::Client,
    url: String,
    cached: RwLock<Option<(String, Instant)>>,
}

impl Tokens {
    pub fn new(http: reqwest::Client, url: String) -> Self {
        Self {
            http,
            url,
            cached: RwLock::new(None),
        }
    }

    pub async fn get(&self) -> Result<String, Failure> {
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
        let (token, lifetime) = exchange(&self.http, &self.url).await?;
        *cached = Some((token.clone(), Instant::now() + lifetime.mul_f64(0.9)));
        Ok(token)
    }
}
