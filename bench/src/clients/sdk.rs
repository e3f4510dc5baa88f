//! Our clients with everything switched on.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry_sdk::metrics::{ManualReader, SdkMeterProvider};
use sdk_calendar::types::{EventCommand, EventOperation};
use sdk_core::{App, ClientCredentials, Page, Record, Response, Suite};
use sdk_opentelemetry::Metrics;

use super::{Client, Failure, Seen, Target};
use crate::model::{borrowed, sliced, tuned};
use crate::payload::{self, command};

/// Our clients, whose pages are delivered as open records.
#[derive(Clone)]
pub struct Sdk {
    pub crm: sdk_crm::Client,
    pub calendar: sdk_calendar::Client,
    event: EventCommand,
}

impl Sdk {
    /// The suite of a target, to be changed before it is built.
    pub fn suite(target: &Target) -> Result<sdk_core::SuiteBuilder, Failure> {
        let builder = Suite::builder()
            .core_url(&target.origin)
            .application_url(App::Crm, &target.origin)
            .audience(App::Crm, "crm")
            .application_url(App::Calendar, &target.origin)
            .audience(App::Calendar, "calendar")
            .credentials(ClientCredentials::new("bench", "secret"));
        #[cfg(feature = "peers")]
        if target.lean {
            return Ok(builder.transport(target.hyper()?));
        }
        if target.http == 1 && target.certificate.is_none() {
            return Ok(builder);
        }
        Ok(builder.http_client(target.builder()?.connect_timeout(Duration::from_secs(5))))
    }

    /// Clients of a suite.
    pub fn of(suite: &Suite) -> Result<Self, Failure> {
        Ok(Self {
            crm: sdk_crm::Client::new(suite)?,
            calendar: sdk_calendar::Client::new(suite)?,
            event: EventCommand::new()
                .operation(EventOperation::Create)
                .collection_reference(command::COLLECTION)
                .title(command::TITLE)
                .location(command::LOCATION)
                .starts_at(command::STARTS_AT)
                .ends_at(command::ENDS_AT)
                .timezone(command::TIMEZONE)
                .all_day(false)
                .attendee_actor_references(command::ATTENDEES)
                .check_conflicts(true),
        })
    }
}

impl Sdk {
    async fn get(
        &self,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<Response<Page<Record>>, Failure> {
        let mut list = self.crm.opportunities().list().limit(limit);
        if let Some(cursor) = cursor {
            list = list.cursor(cursor);
        }
        Ok(list.await?)
    }
}

impl Client for Sdk {
    fn sum_of_page(items: usize) -> u64 {
        payload::bytes_of_records(items)
    }

    async fn new(target: &Target) -> Result<Self, Failure> {
        Self::of(&Self::suite(target)?.build()?)
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        let page = self.get(limit, cursor).await?;
        Ok(Seen {
            items: page.items()?.len() as u64,
            sum: page
                .items()?
                .iter()
                .map(|item| item.raw().as_str().len() as u64)
                .sum(),
            next: page.next_cursor().map(str::to_owned),
        })
    }

    async fn command(&self) -> Result<Seen, Failure> {
        let receipt = self.calendar.events().command(&self.event).await?;
        Ok(Seen {
            items: 1,
            sum: receipt.record_version.try_into()?,
            next: None,
        })
    }

    async fn walk(&self, limit: u32, cursor: String) -> Result<Seen, Failure> {
        let mut items = self
            .crm
            .opportunities()
            .list()
            .limit(limit)
            .cursor(cursor)
            .items();
        let mut seen = Seen::default();
        while let Some(item) = items.try_next().await? {
            seen.items += 1;
            seen.sum += item.raw().as_str().len() as u64;
        }
        Ok(seen)
    }
}

/// Our clients with an observer: an empty one, or metrics.
#[derive(Clone)]
pub struct Observed<const METRICS: bool>(Sdk);

/// Does nothing with what it is told.
struct Empty;

impl sdk_core::Observer for Empty {}

impl<const METRICS: bool> Client for Observed<METRICS> {
    fn sum_of_page(items: usize) -> u64 {
        Sdk::sum_of_page(items)
    }

    async fn new(target: &Target) -> Result<Self, Failure> {
        let suite = Sdk::suite(target)?;
        let suite = if METRICS {
            // Without a reader nothing would be recorded; this one never reads by itself.
            let reader = ManualReader::builder().build();
            let provider = SdkMeterProvider::builder().with_reader(reader).build();
            suite.observer(Metrics::new(&provider))
        } else {
            suite.observer(Empty)
        };
        Ok(Self(Sdk::of(&suite.build()?)?))
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        self.0.page(limit, cursor).await
    }

    async fn command(&self) -> Result<Seen, Failure> {
        self.0.command().await
    }
}

/// A type that records are decoded into.
pub trait Opportunity: serde::de::DeserializeOwned + Send + Sync + 'static {
    /// What only its reader can know.
    fn version(&self) -> u64;
}

impl Opportunity for tuned::Opportunity {
    fn version(&self) -> u64 {
        self.record_version
    }
}

impl Opportunity for sliced::Opportunity {
    fn version(&self) -> u64 {
        self.record_version
    }
}

/// Our clients, with records decoded: into the type that [`tuned`](super::tuned) decodes into, or one of
/// slices.
#[derive(Clone)]
pub struct Decoding<T>(Sdk, PhantomData<fn() -> T>);

impl<T: Opportunity + Clone> Client for Decoding<T> {
    async fn new(target: &Target) -> Result<Self, Failure> {
        Ok(Self(Sdk::new(target).await?, PhantomData))
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        let mut list = self.0.crm.opportunities().list().limit(limit);
        if let Some(cursor) = cursor {
            list = list.cursor(cursor);
        }
        let mut pages = list.pages().decode::<T>();
        let page = pages.try_next().await?.ok_or("there is always a page")?;
        let items = page.items()?;
        Ok(Seen {
            items: items.len() as u64,
            sum: items.iter().map(T::version).sum(),
            next: page.next_cursor().map(str::to_owned),
        })
    }

    async fn command(&self) -> Result<Seen, Failure> {
        self.0.command().await
    }

    async fn walk(&self, limit: u32, cursor: String) -> Result<Seen, Failure> {
        let list = self.0.crm.opportunities().list().limit(limit);
        let mut items = list.cursor(cursor).items().decode::<T>();
        let mut seen = Seen::default();
        while let Some(item) = items.try_next().await? {
            seen.items += 1;
            seen.sum += item.version();
        }
        Ok(seen)
    }
}

/// Our clients, with records that borrow from their page.
#[derive(Clone)]
pub struct Borrowing(Sdk);

impl Client for Borrowing {
    async fn new(target: &Target) -> Result<Self, Failure> {
        Sdk::new(target).await.map(Self)
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        let page = self.0.get(limit, cursor).await?;
        let items = page.view::<borrowed::Opportunity<'_>>()?;
        Ok(Seen {
            items: items.len() as u64,
            sum: items.iter().map(|item| item.record_version).sum(),
            next: page.next_cursor().map(str::to_owned),
        })
    }

    async fn command(&self) -> Result<Seen, Failure> {
        self.0.command().await
    }
}

/// Our clients with a hundred tokens, each call with the next one.
#[derive(Clone)]
pub struct HundredAudiences(Arc<[Sdk]>, Arc<AtomicUsize>);

impl HundredAudiences {
    fn next(&self) -> &Sdk {
        &self.0[self.1.fetch_add(1, Ordering::Relaxed) % self.0.len()]
    }
}

impl Client for HundredAudiences {
    fn sum_of_page(items: usize) -> u64 {
        Sdk::sum_of_page(items)
    }

    async fn new(target: &Target) -> Result<Self, Failure> {
        let suite = Sdk::suite(target)?.build()?;
        let clients: Result<Vec<Sdk>, Failure> = (0..100)
            .map(|number| {
                let scopes = [format!("scope:{number}")];
                Sdk::of(
                    &suite
                        .with_scopes(App::Crm, scopes.clone())
                        .unwrap()
                        .with_scopes(App::Calendar, scopes)
                        .unwrap(),
                )
            })
            .collect();
        let clients = clients?;
        for client in &clients {
            client.crm.prewarm().await?;
            client.calendar.prewarm().await?;
        }
        Ok(Self(clients.into(), Arc::default()))
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        self.next().page(limit, cursor).await
    }

    async fn command(&self) -> Result<Seen, Failure> {
        self.next().command().await
    }
}
