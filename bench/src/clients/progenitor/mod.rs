//! Plain progenitor output, as it comes, with the token as a default header of its reqwest client.

#[allow(
    clippy::all,
    dead_code,
    missing_docs,
    mismatched_lifetime_syntaxes,
    unused_imports
)]
#[rustfmt::skip]
mod generated;

use std::num::NonZeroU64;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use uuid::Uuid;

use self::generated::types::{EventCommand, IdempotencyKey};
use super::exchange::authorization;
use super::{Client, Failure, Seen, Target};
use crate::payload::command;

#[derive(Clone)]
pub struct Progenitor {
    client: generated::Client,
    event: EventCommand,
}

impl Client for Progenitor {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target.builder()?.build()?;
        let authorization = authorization(&http, &target.origin).await?;
        let http = target
            .limited()?
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, authorization)]))
            .build()?;
        Ok(Self {
            client: generated::Client::new_with_client(&target.origin, http),
            event: EventCommand {
                operation: Some("create".to_owned()),
                collection_reference: Some(command::COLLECTION.to_owned()),
                title: Some(command::TITLE.to_owned()),
                location: Some(command::LOCATION.to_owned()),
                starts_at: Some(command::STARTS_AT.parse()?),
                ends_at: Some(command::ENDS_AT.parse()?),
                timezone: Some(command::TIMEZONE.to_owned()),
                all_day: Some(false),
                attendee_actor_references: command::ATTENDEES.map(str::to_owned).to_vec(),
                check_conflicts: Some(true),
            },
        })
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        let page = self
            .client
            .list_opportunities(cursor, NonZeroU64::new(limit.into()), None, None, None)
            .await?
            .into_inner();
        Ok(Seen {
            items: page.items.len() as u64,
            sum: page
                .items
                .iter()
                .map(|item| item.record_version.unsigned_abs())
                .sum(),
            next: page.next_cursor,
        })
    }

    async fn command(&self) -> Result<Seen, Failure> {
        let key: IdempotencyKey = Uuid::new_v4().to_string().parse()?;
        let result = self
            .client
            .submit_event_command(&key, &self.event)
            .await?
            .into_inner();
        Ok(Seen::command(result.record_version.unsigned_abs()))
    }
}
