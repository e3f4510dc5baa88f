//! The processes that a run starts: the server, and one worker per measurement, which prints what it saw as JSON.

use std::path::Path;

use serde::Serialize;
use serde_json::from_str;

use crate::clients::{self, Failure, sdk};
#[cfg(feature = "peers")]
use crate::clients::{handwritten, progenitor, raw};
use crate::load::Job;
use crate::model::{sliced, tuned};
use crate::{growth, micro, server, token, walk};

/// Does what the arguments say, and returns whether they were for a worker.
pub async fn run(arguments: &[&str]) -> Result<bool, Failure> {
    match arguments {
        ["serve", certificate] => server::serve(Path::new(certificate)).await?,
        ["work", job] => work(&from_str(job)?).await?,
        ["part", part, times, origin] => {
            say(&micro::run(from_str(part)?, times.parse()?, origin).await?)?;
        }
        #[cfg(feature = "peers")]
        ["in-memory", times] => say(&micro::in_memory(times.parse()?).await?)?,
        ["storm", storm, callers, origin] => {
            say(&token::storm(origin, from_str(storm)?, callers.parse()?).await?)?;
        }
        ["renewals", origin] => say(&token::renewals(origin).await?)?,
        ["march", pages, limit, origin] => {
            say(&walk::march(origin, pages.parse()?, limit.parse()?).await?)?;
        }
        ["grow", many, count, origin] => {
            say(&growth::run(from_str(many)?, count.parse()?, origin).await?)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn say(seen: &impl Serialize) -> Result<(), Failure> {
    println!("{}", serde_json::to_string(seen)?);
    Ok(())
}

async fn work(job: &Job) -> Result<(), Failure> {
    match job.client.as_str() {
        #[cfg(feature = "peers")]
        "hyper" => job.run::<raw::Raw>().await,
        #[cfg(feature = "peers")]
        "reqwest" => job.run::<handwritten::Handwritten>().await,
        "reqwest-tuned" => job.run::<clients::tuned::Tuned>().await,
        #[cfg(feature = "peers")]
        "reqwest-middleware" => job.run::<handwritten::Middleware>().await,
        #[cfg(feature = "peers")]
        "progenitor" => job.run::<progenitor::Progenitor>().await,
        "sdk" => job.run::<sdk::Sdk>().await,
        "sdk-observed" => job.run::<sdk::Observed<false>>().await,
        "sdk-metrics" => job.run::<sdk::Observed<true>>().await,
        "sdk-lean" => job.run::<sdk::Sdk>().await,
        "sdk-decoded" | "sdk-lean-decoded" => job.run::<sdk::Decoding<tuned::Opportunity>>().await,
        "sdk-sliced" => job.run::<sdk::Decoding<sliced::Opportunity>>().await,
        "sdk-borrowed" => job.run::<sdk::Borrowing>().await,
        "sdk-hundred" => job.run::<sdk::HundredAudiences>().await,
        other => Err(format!("no client {other}").into()),
    }
}
