//! [`handwritten`](super::handwritten), sent through reqwest-middleware with its retry.

use std::sync::Arc;
use std::time::Duration;

use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use uuid::Uuid;

use super::handwritten::Tokens;
use super::{Client, Failure, Seen, Target};
use crate::model::usual::{CommandResult, EventCommand, Page};
use crate::payload;

#[derive(Clone)]
pub struct Middleware {
    http: ClientWithMiddleware,
    base: Arc<str>,
    tokens: Arc<Tokens>,
    event: EventCommand,
}

impl Client for Middleware {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target
            .builder()?
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_secs(30))
            .user_agent("bench/1.0")
            .build()?;
        let retry = ExponentialBackoff::builder().build_with_max_retries(2);
        Ok(Self {
            tokens: Arc::new(Tokens::new(
                http.clone(),
                format!("{}/oauth/token", target.origin),
            )),
            http: ClientBuilder::new(http)
                .with(RetryTransientMiddleware::new_with_policy(retry))
                .build(),
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
