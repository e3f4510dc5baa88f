//! How do I list everything, and resume after a restart? Only one page is in memory, however long the list is.
//!
//! Dependencies: sdk-crm, `serde_json` and tokio (features `macros` and `rt-multi-thread`). This demo starts
//! sdk-reference-server. A real service calls `Suite::from_env()` instead, and stores the checkpoint permanently.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use sdk_crm::{Checkpoint, Client, Record, Suite};
use sdk_reference_server::{Operation, ReferenceServer};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let server = ReferenceServer::builder().people(1_000).start().await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let crm = Client::new(&suite)?;
    let folder = std::env::temp_dir().join(format!("suite-list-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let file = folder.join("people.checkpoint");

    // The CRM fails after 12 pages, so the first run fails too.
    let outage = server.fault(Operation::ListPeople).skip(12).status(503);
    let mut handled = 0;
    if let Err(error) = run(&crm, &file, &mut handled).await {
        println!("first run: {handled} people, then {error}");
    }
    outage.remove();

    let mut handled = 0;
    run(&crm, &file, &mut handled).await?;
    println!("second run: the other {handled} people");
    Ok(fs::remove_dir_all(folder)?)
}

/// Handles all people that earlier runs haven't handled.
async fn run(crm: &Client, file: &Path, handled: &mut u32) -> Result<()> {
    let mut pages = crm.people().list().limit(50).pages();
    // If the CRM rejects an old cursor with a 400, remove the file. The next run then starts from the first page.
    if file.exists() {
        pages = pages.resume(serde_json::from_slice(&fs::read(file)?)?);
    }
    while let Some(page) = pages.try_next().await? {
        for person in page.items()? {
            handle(person);
            *handled += 1;
        }
        save(file, &pages.checkpoint())?;
    }
    Ok(fs::remove_file(file)?) // the next run lists everything again
}

/// Must tolerate repeated people. If a run fails before it saves a page's checkpoint, the next run lists the page
/// again.
fn handle(_person: &Record) {}

/// Replaces the file atomically, so a crash leaves the old or the new checkpoint. A checkpoint contains no records.
fn save(file: &Path, checkpoint: &Checkpoint) -> Result<()> {
    let new = file.with_extension("new");
    let mut written = fs::File::create(&new)?;
    written.write_all(&serde_json::to_vec(checkpoint)?)?;
    written.sync_all()?; // before the rename, to survive a power failure
    Ok(fs::rename(new, file)?)
}
