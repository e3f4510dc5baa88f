//! Small parts, repeated often enough to count their instructions.

use std::hint::black_box;
use std::time::Duration;

use tracing::field::Empty;

use crate::clients::Failure;
use crate::process::{Bench, Task};
use crate::system::mark;
use crate::{allocations, token};

const TIMES: u64 = 20_000;

/// The measured parts, without the empty loop around them.
pub const PARTS: [&str; 4] = [
    "live token, in a call",
    "live token, `bearer().await`",
    "disabled span with nine fields",
    "disabled event",
];

/// Returns instructions (if counted) and allocations of the empty loop, and then of each of [`PARTS`].
pub async fn costs(bench: &Bench) -> Result<Vec<(Option<f64>, f64)>, Failure> {
    let (allocations, counts): (Vec<f64>, _) =
        bench.work(&Task::Parts(bench.origin()), true).await?;
    let costs = allocations.iter().enumerate().map(|(part, allocations)| {
        let instructions = counts.get(2 * part + 1).map(|count| count / TIMES as f64);
        (instructions, allocations / TIMES as f64)
    });
    Ok(costs.collect())
}

/// Repeats each part between two marks and returns the allocations.
pub async fn parts(origin: &str) -> Result<Vec<f64>, Failure> {
    let token = token::entry(origin, 300, Duration::ZERO, 200).await?;
    let mut all = Vec::with_capacity(8);
    repeat(&mut all, |number| number);
    allocations::start();
    mark();
    for _ in 0..TIMES {
        black_box(token.try_bearer().ok_or("the token is not fresh")?);
    }
    mark();
    all.push(allocations::stop());
    allocations::start();
    mark();
    for _ in 0..TIMES {
        black_box(token.bearer().await?);
    }
    mark();
    all.push(allocations::stop());
    repeat(&mut all, span);
    repeat(&mut all, |number| {
        tracing::debug!(attempt = number, wait_ms = 1.5, "the call is retried");
    });
    Ok(all)
}

fn repeat<T>(all: &mut Vec<f64>, part: impl Fn(u64) -> T) {
    allocations::start();
    mark();
    for number in 0..TIMES {
        black_box(part(black_box(number)));
    }
    mark();
    all.push(allocations::stop());
}

/// Returns a span with as many fields as the span of a call.
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

/// Returns the microseconds of a call, including the reference server in memory. Commands and pages alternate.
#[cfg(feature = "peers")]
pub async fn in_memory() -> Result<f64, Failure> {
    const TURNS: u32 = 2000;
    let server = sdk_reference_server::ReferenceServer::builder().in_memory();
    let suite = sdk_core::Suite::builder().variables(server.environment());
    let crm = sdk_crm::Client::new(&suite.transport(server.service()).build()?)?;
    crm.prewarm().await?;
    let began = std::time::Instant::now();
    for number in 0..TURNS {
        let payload = serde_json::json!({"displayName": format!("Person {number}")});
        let command = serde_json::json!({"commandType": "person.create", "payload": payload});
        black_box(crm.commands().submit(command).await?);
        black_box(crm.opportunities().list().await?);
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(TURNS * 2))
}
