//! The SDK's clients with all features enabled.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry_sdk::metrics::{ManualReader, SdkMeterProvider};
use sdk_calendar::types::EventCommand;
use sdk_core::{App, ClientCredentials, Suite, SuiteBuilder};
use sdk_crm::ListOpportunities;
use sdk_opentelemetry::Metrics;
use serde::de::DeserializeOwned;

use super::{Client, Failure, Target};
use crate::model::{borrowed, sliced, tuned};
use crate::payload;

#[derive(Clone)]
pub struct Sdk {
    crm: sdk_crm::Client,
    /// One client per token. Commands use the clients in rotation.
    calendars: Arc<[sdk_calendar::Client]>,
    next: Arc<AtomicUsize>,
    event: EventCommand,
    reading: Reading,
}

/// Reads records raw, decodes them into structs of `String` or `Text`, or reads them raw as borrowing structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Open,
    Strings,
    Texts,
    Views,
}

struct EmptyObserver;

impl sdk_core::Observer for EmptyObserver {}

impl Sdk {
    /// Returns the suite of a target. The client's name selects the transport and the observer.
    pub fn suite(target: &Target) -> Result<SuiteBuilder, Failure> {
        let suite = Suite::builder()
            .core_url(&target.origin)
            .application_url(App::Crm, &target.origin)
            .audience(App::Crm, "crm")
            .application_url(App::Calendar, &target.origin)
            .audience(App::Calendar, "calendar")
            .credentials(ClientCredentials::new("bench", "secret"));
        match target.client.as_str() {
            "sdk-observed" => return Ok(suite.observer(EmptyObserver)),
            "sdk-metrics" => {
                // The provider records only if it has a reader. This one reads only on demand.
                let reader = ManualReader::builder().build();
                let provider = SdkMeterProvider::builder().with_reader(reader).build();
                return Ok(suite.observer(Metrics::new(&provider)));
            }
            #[cfg(feature = "peers")]
            "sdk-lean" | "sdk-lean-decoded" => {
                let hyper = sdk_transport_hyper::HyperTransport::builder().proxies(None);
                let hyper = match (&target.certificate, target.http2) {
                    (Some(_), _) => hyper.tls(target.tls()?),
                    (None, true) => hyper.http2_prior_knowledge(),
                    (None, false) => hyper,
                };
                return Ok(suite.transport(hyper.build()));
            }
            _ => {}
        }
        if !target.http2 && target.certificate.is_none() {
            return Ok(suite);
        }
        Ok(suite.http_client(target.builder()?.connect_timeout(Duration::from_secs(5))))
    }

    /// Returns the clients of a suite, which keep records raw.
    pub fn of(suite: &Suite) -> Result<Self, Failure> {
        Ok(Self {
            crm: sdk_crm::Client::new(suite)?,
            calendars: [sdk_calendar::Client::new(suite)?].into(),
            next: Arc::default(),
            event: serde_json::from_value(payload::event())?,
            reading: Reading::Open,
        })
    }

    pub fn list(&self, limit: usize) -> ListOpportunities {
        self.crm.opportunities().list().limit(limit as u32)
    }

    async fn decoded<T>(&self, version: fn(&T) -> u64) -> Result<u64, Failure>
    where
        T: DeserializeOwned + Send + Sync + 'static,
    {
        let pages = self.list(payload::ITEMS).pages();
        let mut pages = pages.decode::<T>();
        let page = pages.try_next().await?.ok_or("there is always a page")?;
        black_box(page.next_cursor().map(str::to_owned));
        Ok(page.items()?.iter().map(version).sum())
    }
}

impl Client for Sdk {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let suite = Self::suite(target)?.build()?;
        let mut sdk = Self::of(&suite)?;
        sdk.reading = match target.client.as_str() {
            "sdk-decoded" | "sdk-lean-decoded" => Reading::Strings,
            "sdk-sliced" => Reading::Texts,
            "sdk-borrowed" => Reading::Views,
            _ => Reading::Open,
        };
        if target.client == "sdk-hundred" {
            let mut calendars = Vec::new();
            for number in 0..100 {
                let suite = suite.with_scopes(App::Calendar, [format!("scope:{number}")])?;
                let calendar = sdk_calendar::Client::new(&suite)?;
                calendar.prewarm().await?;
                calendars.push(calendar);
            }
            sdk.calendars = calendars.into();
        }
        Ok(sdk)
    }

    async fn page(&self) -> Result<u64, Failure> {
        match self.reading {
            Reading::Open => {
                let page = self.list(payload::ITEMS).await?;
                // A caller that continues needs the cursor.
                black_box(page.next_cursor().map(str::to_owned));
                let records = page.items()?.iter();
                Ok(records.map(|it| it.raw().as_str().len() as u64).sum())
            }
            Reading::Strings => {
                self.decoded(|it: &tuned::Opportunity| it.record_version)
                    .await
            }
            Reading::Texts => {
                self.decoded(|it: &sliced::Opportunity| it.record_version)
                    .await
            }
            Reading::Views => {
                let page = self.list(payload::ITEMS).await?;
                black_box(page.next_cursor().map(str::to_owned));
                let items = page.view::<borrowed::Opportunity<'_>>()?;
                Ok(items.iter().map(|item| item.record_version).sum())
            }
        }
    }

    async fn command(&self) -> Result<u64, Failure> {
        let calendar = match &*self.calendars {
            [calendar] => calendar,
            many => &many[self.next.fetch_add(1, Ordering::Relaxed) % many.len()],
        };
        let receipt = calendar.events().command(&self.event).await?;
        Ok(receipt.record_version.try_into()?)
    }

    fn sum_of_page(&self) -> u64 {
        match self.reading {
            Reading::Open => payload::bytes_of_page(),
            _ => payload::versions_of_page(),
        }
    }
}
