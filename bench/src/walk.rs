//! A long walk, thousand pages by thousand pages.

use serde::{Deserialize, Serialize};

use crate::clients::sdk::Sdk;
use crate::clients::{Client as _, Failure, Target};
use crate::system::{nanos, status};

/// After how many pages somebody looks.
pub const STRETCH: u64 = 1000;

/// What it was like.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Walked {
    pub items: u64,
    /// Processor microseconds of one page, in each stretch.
    pub micros: Vec<f64>,
    /// KiB in memory after each stretch.
    pub memory: Vec<u64>,
}

/// Walks over so many pages by `items()`.
pub async fn march(origin: &str, pages: u64, limit: u32) -> Result<Walked, Failure> {
    let target = Target {
        origin: origin.to_owned(),
        http: 1,
        certificate: None,
        lean: false,
    };
    let sdk = Sdk::new(&target).await?;
    let list = sdk.crm.opportunities().list().limit(limit);
    let mut items = list.cursor(format!("w{pages:012}")).items();
    let mut walked = Walked {
        items: 0,
        micros: Vec::with_capacity(64),
        memory: Vec::with_capacity(64),
    };
    let mut before = nanos();
    while items.try_next().await?.is_some() {
        walked.items += 1;
        if walked.items.is_multiple_of(STRETCH * u64::from(limit)) {
            stretch_ends(&mut walked, nanos() - before);
            before = nanos();
        }
    }
    Ok(walked)
}

/// callgrind looks for this name.
#[inline(never)]
fn stretch_ends(walked: &mut Walked, nanos: u64) {
    walked.micros.push(nanos as f64 / 1e3 / STRETCH as f64);
    walked.memory.push(status("VmRSS:"));
}
