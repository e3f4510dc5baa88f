//! Unmodified progenitor output, with the token as a default header of its reqwest client.

#[allow(clippy::all, warnings)]
mod generated {
    progenitor::generate_api!("src/clients/progenitor.yaml");
}

use std::num::NonZeroU64;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use uuid::Uuid;

use self::generated::types::{EventCommand, IdempotencyKey};
use super::{Client, Failure, Target, authorization};
use crate::payload;

#[derive(Clone)]
pub struct Progenitor {
    client: generated::Client,
    event: EventCommand,
}

impl Client for Progenitor {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target
            .limited()?
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, authorization()?)]))
            .build()?;
        Ok(Self {
            client: generated::Client::new_with_client(&target.origin, http),
            event: serde_json::from_value(payload::event())?,
        })
    }

    async fn page(&self) -> Result<u64, Failure> {
        let limit = NonZeroU64::new(payload::ITEMS as u64);
        let client = &self.client;
        let page = client.list_opportunities(None, limit, None, None, None);
        let page = page.await?.into_inner();
        let versions = page.items.iter().map(|item| item.record_version);
        Ok(versions.sum::<i64>().unsigned_abs())
    }

    async fn command(&self) -> Result<u64, Failure> {
        let key: IdempotencyKey = Uuid::new_v4().to_string().parse()?;
        let result = self.client.submit_event_command(&key, &self.event).await?;
        Ok(result.record_version.unsigned_abs())
    }
}
