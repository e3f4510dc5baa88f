//! Consumers that read lists, store records and checkpoint together, and continue after failures and crashes.

use std::time::Duration;

use fastrand::Rng;
use sdk_core::{Checkpoint, Pages, Record};
use suite_checker::{Event, Kind};
use tokio::time::sleep;

use super::broken::Sdk;
use super::call::{Options, with_options};
use super::installation::LISTS;
use super::network::CALL;
use super::service::Store;
use super::stage::{Number, locked};
use super::suites::Seat;

#[derive(Clone)]
pub(super) struct Progress {
    number: u64,
    at: usize,
    list: usize,
    /// The stored checkpoint. `None` at the beginning.
    checkpoint: Option<String>,
}

/// Reads one list after the other until the simulation is calm and the last list has ended.
pub(super) async fn work(seats: Vec<Seat>, store: Store, slot: usize, mut rng: Rng) {
    let stage = seats[0].stage.clone();
    while !stage.is_calm() || locked(&store.listings)[slot].is_some() {
        let progress = locked(&store.listings)[slot].clone();
        let progress = progress.unwrap_or_else(|| begin(&seats, &store, slot, &mut rng));
        let seat = seats.iter().find(|it| it.at == progress.at);
        let seat = seat.expect("a seat for each installation");
        // Only the call of a single page can be rejected.
        if rng.bool() || stage.simulation.sdk == Sdk::RejectsAll {
            one_page(seat, &store, slot, progress, &mut rng).await;
        } else {
            many(seat, &store, slot, progress, &mut rng).await;
        }
        sleep(Duration::from_millis(rng.u64(0..1_500))).await;
    }
}

fn begin(seats: &[Seat], store: &Store, slot: usize, rng: &mut Rng) -> Progress {
    let (seat, list) = (&seats[rng.usize(..seats.len())], rng.usize(..LISTS.len()));
    let number = seat.stage.next(Number::Listing);
    seat.stage.count("listings");
    seat.stage.record(Event::ListingBegan {
        listing: number,
        installation: seat.installation().number,
        list: LISTS[list].to_owned(),
    });
    let progress = Progress {
        number,
        at: seat.at,
        list,
        checkpoint: None,
    };
    locked(&store.listings)[slot] = Some(progress.clone());
    progress
}

/// Returns the pages from the stored checkpoint on.
fn pages(seat: &Seat, progress: &Progress, options: &Options, rng: &mut Rng) -> Pages<Record> {
    let limit = rng.u32(5..=50);
    macro_rules! pages {
        ($group:ident) => {
            with_options!(seat.crm.$group().list().limit(limit), options, CALL[0]).pages()
        };
    }
    let pages = match LISTS[progress.list] {
        "people" => pages!(people),
        "organizations" => pages!(organizations),
        "opportunities" => pages!(opportunities),
        _ => pages!(tasks),
    };
    match &progress.checkpoint {
        Some(stored) => pages.resume(serde_json::from_str(stored).expect("it was stored")),
        None => pages,
    }
}

/// Stores records permanently, together with the checkpoint after them.
fn save(
    seat: &Seat,
    store: &Store,
    slot: usize,
    progress: &Progress,
    records: &[Record],
    at: &Checkpoint,
) {
    let listing = progress.number;
    for record in records {
        seat.stage.count("listings: records stored");
        seat.stage.record(Event::Took {
            listing,
            record: record.text("publicReference").unwrap_or_default(),
        });
    }
    let mut listings = locked(&store.listings);
    if at.is_finished() {
        seat.stage.count("listings ended");
        seat.stage.record(Event::ListingEnded { listing });
        listings[slot] = None;
    } else if let Some(progress) = &mut listings[slot] {
        progress.checkpoint = Some(serde_json::to_string(at).expect("a checkpoint is JSON"));
    }
}

/// Reads one page as its own call.
async fn one_page(seat: &Seat, store: &Store, slot: usize, progress: Progress, rng: &mut Rng) {
    let options = Options::draw(&seat.stage, rng);
    let mut pages = pages(seat, &progress, &options, rng);
    let about = seat.about("page", Kind::Read);
    let page = async {
        pages
            .try_next()
            .await
            .map(|page| page.expect("it has not ended"))
    };
    if let Some(Ok(page)) = about.make(&options, page).await {
        let records = page.items().unwrap_or_default();
        save(seat, store, slot, &progress, records, &pages.checkpoint());
    }
}

/// Reads items until a failure, a random stop or the end. All pages belong to one call without a total deadline.
async fn many(seat: &Seat, store: &Store, slot: usize, progress: Progress, rng: &mut Rng) {
    let options = Options::draw(&seat.stage, rng);
    let mut items = pages(seat, &progress, &options, rng).items();
    if rng.bool() {
        items = items.read_ahead();
    }
    let (batch, enough) = (rng.usize(1..30), rng.usize(1..200));
    let mut about = seat.about("listing", Kind::Read);
    about.deadline = None;
    // A page's error is not recorded, because the attempts of this call cover all its pages.
    let _open = about.begin(&options);
    let save =
        |records: &[Record], at: Checkpoint| save(seat, store, slot, &progress, records, &at);
    let (mut records, mut taken) = (Vec::new(), 0);
    while taken < enough {
        match items.try_next().await {
            Ok(Some(record)) => records.push(record),
            Ok(None) => return save(&records, items.checkpoint()),
            Err(error) => {
                seat.stage.log(&error);
                // The consumer decides whether to store the items before the failure.
                if rng.bool() {
                    save(&records, items.checkpoint());
                }
                return;
            }
        }
        if records.len() == batch {
            let at = items.checkpoint();
            let ended = at.is_finished();
            save(&records, at);
            if ended {
                return;
            }
            taken += records.len();
            records.clear();
            if rng.u8(..8) == 0 {
                sleep(Duration::from_millis(rng.u64(0..2_000))).await;
            }
        }
    }
}
