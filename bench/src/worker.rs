//! The processes that a run starts: the server, and one worker per measurement, which prints what it saw as JSON.

use std::path::Path;

use serde::Serialize;

use crate::clients::{Failure, sdk, tuned};
#[cfg(feature = "peers")]
use crate::clients::{handwritten, progenitor, raw};
use crate::load::Job;
use crate::{micro, server, token, walk};

/// Does what the arguments say, or nothing if they are for somebody else.
pub async fn run(arguments: &[&str]) -> Option<Result<(), Failure>> {
    Some(match arguments {
        ["serve", certificate] => server::serve(Path::new(certificate))
            .await
            .map_err(Into::into),
        ["work", job] => work(job).await,
        ["part", what, times, origin] => part(what, times, origin).await,
        ["storm", storm, callers, origin] => say(storm_of(storm, callers, origin).await),
        ["renewals", origin] => say(token::renewals(origin).await),
        ["march", pages, limit, origin] => say(march(pages, limit, origin).await),
        _ => return None,
    })
}

fn say(result: Result<impl Serialize, Failure>) -> Result<(), Failure> {
    println!("{}", serde_json::to_string(&result?)?);
    Ok(())
}

async fn part(what: &str, times: &str, origin: &str) -> Result<(), Failure> {
    let part = serde_json::from_value(what.into())?;
    say(micro::run(part, times.parse()?, origin).await)
}

async fn storm_of(storm: &str, callers: &str, origin: &str) -> Result<token::Seen, Failure> {
    let storm = serde_json::from_value(storm.into())?;
    token::storm(origin, storm, callers.parse()?).await
}

async fn march(pages: &str, limit: &str, origin: &str) -> Result<walk::Walked, Failure> {
    walk::march(origin, pages.parse()?, limit.parse()?).await
}

async fn work(job: &str) -> Result<(), Failure> {
    let job: Job = serde_json::from_str(job)?;
    match job.client.as_str() {
        #[cfg(feature = "peers")]
        "hyper" => job.run::<raw::Raw>().await,
        #[cfg(feature = "peers")]
        "reqwest" => job.run::<handwritten::Handwritten>().await,
        "reqwest-tuned" => job.run::<tuned::Tuned>().await,
        #[cfg(feature = "peers")]
        "reqwest-middleware" => job.run::<handwritten::Middleware>().await,
        #[cfg(feature = "peers")]
        "progenitor" => job.run::<progenitor::Progenitor>().await,
        "sdk" => job.run::<sdk::Sdk>().await,
        "sdk-decoded" => job.run::<sdk::Decoding>().await,
        "sdk-hundred" => job.run::<sdk::HundredAudiences>().await,
        other => Err(format!("no client {other}").into()),
    }
}
