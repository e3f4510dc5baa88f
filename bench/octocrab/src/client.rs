//! octocrab's own `get` and `post` with its default stack (retry, tracing, redirects, a buffer), pointed at our server.
//!
//! It takes no root of the caller's and speaks HTTP/1.1 only, and no header of one request: the key is always the same.

use octocrab::Octocrab;

use suite_bench::clients::exchange::exchange;
use suite_bench::clients::{Client, Failure, Seen, Target};
use suite_bench::model::usual::{CommandResult, EventCommand, Page};
use suite_bench::payload;

#[derive(Clone)]
pub struct Octo {
    http: Octocrab,
    event: EventCommand,
}

impl Client for Octo {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target.builder()?.build()?;
        let (token, _) = exchange(&http, &target.origin).await?;
        Ok(Self {
            http: Octocrab::builder()
                .base_uri(target.origin.as_str())?
                .personal_token(token)
                .add_header("idempotency-key".parse()?, uuid::Uuid::new_v4().to_string())
                .build()?,
            event: EventCommand::create(),
        })
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        #[derive(serde::Serialize)]
        struct Parameters<'a> {
            limit: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            cursor: Option<&'a str>,
        }
        let page: Page = self
            .http
            .get(payload::PAGE_PATH, Some(&Parameters { limit, cursor }))
            .await?;
        Ok(page.seen())
    }

    async fn command(&self) -> Result<Seen, Failure> {
        let result: CommandResult = self
            .http
            .post(payload::COMMAND_PATH, Some(&self.event))
            .await?;
        Ok(result.seen())
    }
}
