//! Reads all pages of a list, with a figure for each thousand pages.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use crate::allocations;
use crate::clients::sdk::Sdk;
use crate::clients::{Client as _, Failure, Target};
use crate::system::{mark, processor, status};

/// The number of pages between two figures.
pub const STRETCH: usize = 1000;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Listed {
    pub items: usize,
    /// The processor microseconds of one page, in each stretch.
    pub micros: Vec<f64>,
    /// The memory after each stretch, in KiB.
    pub memory: Vec<f64>,
    /// The bytes that `items()` holds at its end.
    pub held: f64,
}

/// Reads a list with `items()` or page by page. Marks the beginning, the end of each stretch of `items()`, and the end.
pub async fn run(
    origin: &str,
    pages: usize,
    each: usize,
    by_page: bool,
) -> Result<Listed, Failure> {
    let sdk = Sdk::new(&Target::plain("sdk", origin)).await?;
    let cursor = |pages: usize| format!("w{pages:012}");
    let mut warm = sdk.list(each).cursor(cursor(20)).items();
    while warm.try_next().await?.is_some() {}
    drop(warm);
    let mut listed = Listed {
        micros: Vec::with_capacity(64),
        memory: Vec::with_capacity(64),
        ..Listed::default()
    };
    mark();
    allocations::start();
    if by_page {
        let mut next = Some(cursor(pages));
        while let Some(cursor) = next {
            let page = sdk.list(each).cursor(cursor).await?;
            listed.items += page.items()?.iter().map(black_box).count();
            next = page.next_cursor().map(str::to_owned);
        }
    } else {
        let mut items = sdk.list(each).cursor(cursor(pages)).items();
        let mut before = processor();
        while let Some(item) = items.try_next().await? {
            black_box(item);
            listed.items += 1;
            if listed.items.is_multiple_of(STRETCH * each) {
                mark();
                listed.micros.push((processor() - before) / STRETCH as f64);
                listed.memory.push(status("VmRSS:"));
                before = processor();
            }
        }
        listed.held = allocations::held();
    }
    mark();
    match listed.items == pages * each {
        true => Ok(listed),
        false => Err(format!("{} items instead of {pages} times {each}", listed.items).into()),
    }
}
