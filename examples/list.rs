//! How do I list everything, and resume after a restart? Only one page is in memory, whatever the length of the list.
//!
//! Dependencies: sdk-crm, `serde_json` and tokio (features `macros` and `rt-multi-thread`). The demonstration starts
//! sdk-reference-server; a service calls `Suite::from_env()` instead, and keeps the file.

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

    // The CRM fails after twelve pages, and so does the first run.
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

/// Handles all people whom no earlier run has handled.
async fn run(crm: &Client, file: &Path, handled: &mut u32) -> Result<()> {
    let mut pages = crm.people().list().limit(50).pages();
    // If the CRM rejects the cursor one day (400), remove the file: the list begins again.
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

/// A page whose checkpoint wasn't saved comes again, so this must accept a person twice.
fn handle(_person: &Record) {}

/// Replaces the file in one step, so that a crash leaves the old checkpoint or the new one. Neither holds a record.
fn save(file: &Path, checkpoint: &Checkpoint) -> Result<()> {
    let new = file.with_extension("new");
    let mut written = fs::File::create(&new)?;
    written.write_all(&serde_json::to_vec(checkpoint)?)?;
    written.sync_all()?; // before the rename, so that this holds after a power failure, too
    Ok(fs::rename(new, file)?)
}
