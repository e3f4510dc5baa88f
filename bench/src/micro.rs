//! Small parts by themselves, so often that their instructions can be counted.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracing::field::Empty;

use crate::allocations::{self, Allocations};
use crate::clients::Failure;
use crate::process::{self, Bench};
use crate::token;

/// A small part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The loop around the others.
    Nothing,
    /// A live token as a call takes it.
    TokenAtHand,
    /// A live token as anybody else takes it.
    Token,
    /// A span that nobody listens to.
    Span,
    /// An event that nobody listens to.
    Event,
}

impl Part {
    /// What stands in the table.
    pub const ALL: [Self; 4] = [Self::TokenAtHand, Self::Token, Self::Span, Self::Event];

    /// What a reader knows it by.
    pub fn title(self) -> &'static str {
        match self {
            Self::Nothing => "the loop alone",
            Self::TokenAtHand => "live token, as a call takes it",
            Self::Token => "live token, `bearer().await`",
            Self::Span => "disabled span with nine fields",
            Self::Event => "disabled event",
        }
    }

    /// Instructions, if they can be counted, and allocations of doing it once.
    pub async fn cost(self, bench: &Bench, times: u64) -> Result<(Option<f64>, f64), Failure> {
        let origin = bench.target(process::Transport::H1).origin;
        let (once, twice) = (times.to_string(), (times * 2).to_string());
        let part = serde_json::to_string(&self)?;
        let arguments = |times| ["part", part.as_str(), times, origin.as_str()];
        let counted: Allocations = bench.work(&bench.program, &arguments(&once)).await?;
        let allocations = counted.count as f64 / times as f64;
        if !bench.valgrind {
            return Ok((None, allocations));
        }
        let mut counts = [0.0; 2];
        for (times, count) in [&once, &twice].into_iter().zip(&mut counts) {
            let (_, seen): (Allocations, _) =
                bench.count(&bench.program, &arguments(times), None).await?;
            *count = seen[0] as f64;
        }
        let instructions = (counts[1] - counts[0]) / times as f64;
        Ok((Some(instructions), allocations))
    }
}

/// Does one part so often, and says what it allocated.
pub async fn run(part: Part, times: u64, origin: &str) -> Result<Allocations, Failure> {
    match part {
        Part::TokenAtHand => {
            let (entry, _) = token::entry(origin, 300, Duration::ZERO, &Arc::default()).await?;
            allocations::start();
            for _ in 0..times {
                black_box(entry.try_bearer().ok_or("the token is not fresh")?);
            }
        }
        Part::Token => {
            let (entry, _) = token::entry(origin, 300, Duration::ZERO, &Arc::default()).await?;
            allocations::start();
            for _ in 0..times {
                black_box(entry.bearer().await?);
            }
        }
        Part::Span => {
            allocations::start();
            for number in 0..times {
                black_box(span(black_box(number)));
            }
        }
        Part::Event => {
            allocations::start();
            for number in 0..times {
                tracing::debug!(
                    attempt = black_box(number),
                    wait_ms = 1.5,
                    "the call is retried"
                );
            }
        }
        Part::Nothing => {
            allocations::start();
            for number in 0..times {
                black_box(number);
            }
        }
    }
    Ok(allocations::stop())
}

/// Microseconds of a call through the reference server in memory, the server's part included: one adds a person, the next
/// reads a page.
#[cfg(feature = "peers")]
pub async fn in_memory(times: u32) -> Result<f64, Failure> {
    let server = sdk_reference_server::ReferenceServer::builder().in_memory();
    let suite = sdk_core::Suite::builder().variables(server.environment());
    let crm = sdk_crm::Client::new(&suite.transport(server.service()).build()?)?;
    crm.prewarm().await?;
    let began = std::time::Instant::now();
    for number in 0..times {
        let payload = serde_json::json!({"displayName": format!("Person {number}")});
        let command = serde_json::json!({"commandType": "person.create", "payload": payload});
        black_box(crm.commands().submit(command).await?);
        black_box(crm.opportunities().list().await?);
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(times * 2))
}

/// A span with as many fields as that of a call has.
fn span(number: u64) -> tracing::Span {
    tracing::info_span!(
        "suite.call",
        otel.name = "submitEventCommand",
        otel.kind = "internal",
        otel.status_code = Empty,
        suite.application = "calendar",
        suite.operation = number,
        suite.attempts = Empty,
        suite.effect = Empty,
        suite.request_id = Empty,
        error.type = Empty,
    )
}
