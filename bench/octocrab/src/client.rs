//! octocrab's own `get` and `post` with its default stack (retry, tracing, redirects, a buffer), used with our server.
//!
//! octocrab accepts no custom root certificate and no header per request, and uses only HTTP/1.1. The key is therefore
//! always the same.

use chrono::{DateTime, Utc};
use octocrab::Octocrab;

use suite_bench::clients::{Client, Failure, Target};
use suite_bench::model::{CommandResult, EventCommand, Page, usual::Opportunity};
use suite_bench::payload;

#[derive(Clone)]
pub struct Octo {
    http: Octocrab,
    event: EventCommand<DateTime<Utc>>,
}

impl Client for Octo {
    async fn new(target: &Target) -> Result<Self, Failure> {
        Ok(Self {
            http: Octocrab::builder()
                .base_uri(target.origin.as_str())?
                .personal_token(payload::token("000000000"))
                .add_header("idempotency-key".parse()?, uuid::Uuid::new_v4().to_string())
                .build()?,
            event: serde_json::from_value(payload::event())?,
        })
    }

    async fn page(&self) -> Result<u64, Failure> {
        let (path, limit) = (payload::PAGE_PATH, [("limit", payload::ITEMS)]);
        let page: Page<Opportunity> = self.http.get(path, Some(&limit)).await?;
        Ok(page.items.iter().map(|item| item.record_version).sum())
    }

    async fn command(&self) -> Result<u64, Failure> {
        let event = Some(&self.event);
        let result: CommandResult = self.http.post(payload::COMMAND_PATH, event).await?;
        Ok(result.record_version)
    }
}
