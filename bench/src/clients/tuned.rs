//! reqwest by hand, by somebody who has measured: addresses and headers made once, one pass over the text, `jiff`.

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use reqwest::{Method, Request, Url};

use super::exchange::{authorization, command_headers};
use super::{Client, Failure, Seen, Target};
use crate::model::tuned::{CommandResult, EventCommand, Page};
use crate::payload;

#[derive(Clone)]
pub struct Tuned {
    http: reqwest::Client,
    page: Url,
    command: Url,
    authorization: HeaderValue,
    event: EventCommand,
}

impl Client for Tuned {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target.limited()?.build()?;
        let base = Url::parse(&target.origin)?;
        Ok(Self {
            page: base.join(payload::PAGE_PATH)?,
            command: base.join(payload::COMMAND_PATH)?,
            authorization: authorization(&http, &target.origin).await?,
            http,
            event: EventCommand::create(),
        })
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        let mut url = self.page.clone();
        url.set_query(Some(&match cursor {
            None => format!("limit={limit}"),
            Some(cursor) => format!("limit={limit}&cursor={cursor}"),
        }));
        let page: Page = self.send(Request::new(Method::GET, url)).await?;
        Ok(page.seen())
    }

    async fn command(&self) -> Result<Seen, Failure> {
        let mut request = Request::new(Method::POST, self.command.clone());
        command_headers(request.headers_mut())?;
        *request.body_mut() = Some(serde_json::to_vec(&self.event)?.into());
        let result: CommandResult = self.send(request).await?;
        Ok(result.seen())
    }
}

impl Tuned {
    async fn send<T: serde::de::DeserializeOwned>(
        &self,
        mut request: Request,
    ) -> Result<T, Failure> {
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(AUTHORIZATION, self.authorization.clone());
        let body = self
            .http
            .execute(request)
            .await?
            .error_for_status()?
            .bytes()
            .await?;
        Ok(serde_json::from_str(std::str::from_utf8(&body)?)?)
    }
}
