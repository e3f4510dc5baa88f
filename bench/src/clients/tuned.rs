//! Handwritten reqwest code, optimized by measurement: addresses and headers built once, one pass over the body,
//! `jiff`.

use jiff::Timestamp;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use reqwest::{Method, Request, Url};
use serde::de::DeserializeOwned;

use super::{Client, Failure, Target, authorization, command_headers};
use crate::model::{CommandResult, EventCommand, Page, tuned::Opportunity};
use crate::payload;

#[derive(Clone)]
pub struct Tuned {
    http: reqwest::Client,
    page: Url,
    command: Url,
    authorization: HeaderValue,
    event: EventCommand<Timestamp>,
}

impl Client for Tuned {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target.limited()?.build()?;
        let base = Url::parse(&target.origin)?;
        Ok(Self {
            page: base.join(payload::PAGE_PATH)?,
            command: base.join(payload::COMMAND_PATH)?,
            authorization: authorization()?,
            http,
            event: serde_json::from_value(payload::event())?,
        })
    }

    async fn page(&self) -> Result<u64, Failure> {
        let mut url = self.page.clone();
        url.set_query(Some(&format!("limit={}", payload::ITEMS)));
        let page: Page<Opportunity> = self.send(Request::new(Method::GET, url)).await?;
        Ok(page.items.iter().map(|item| item.record_version).sum())
    }

    async fn command(&self) -> Result<u64, Failure> {
        let mut request = Request::new(Method::POST, self.command.clone());
        command_headers(request.headers_mut())?;
        *request.body_mut() = Some(serde_json::to_vec(&self.event)?.into());
        let result: CommandResult = self.send(request).await?;
        Ok(result.record_version)
    }
}

impl Tuned {
    async fn send<T: DeserializeOwned>(&self, mut request: Request) -> Result<T, Failure> {
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(AUTHORIZATION, self.authorization.clone());
        let response = self.http.execute(request).await?.error_for_status()?;
        let body = response.bytes().await?;
        Ok(serde_json::from_str(std::str::from_utf8(&body)?)?)
    }
}
