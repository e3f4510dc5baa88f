//! Draws the picture of the README: a reply that is lost, with a handwritten loop and with the SDK.
//!
//! ```text
//! cargo run --example picture              # writes sdk-core/docs/lost_reply.svg
//! cargo run --example picture -- --check   # only says whether it would change
//! ```
// ci: args --check
//!
//! Both lanes are real runs against a reference server in memory, on a paused clock and with fixed seeds, so that the
//! picture is the same each time.

mod drawing;
mod handwritten;
mod lane;
mod sdk;

#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::process::ExitCode;

use lane::Failure;
use support::out;

const PICTURE: &str = "sdk-core/docs/lost_reply.svg";

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> ExitCode {
    let check = match &*std::env::args().skip(1).collect::<Vec<_>>() {
        [] => false,
        [only] if only == "--check" => true,
        _ => {
            out::note!("usage: picture [--check]");
            return ExitCode::from(2);
        }
    };
    out::finish(run(check).await.map(|()| ExitCode::SUCCESS))
}

async fn run(check: bool) -> Result<(), Failure> {
    let svg = drawing::svg(&[handwritten::run().await?, sdk::run().await?]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(PICTURE);
    // A checkout may have other ends of lines.
    let same = std::fs::read_to_string(&file).is_ok_and(|there| there.replace('\r', "") == svg);
    match (same, check) {
        (true, _) => out::note!("{PICTURE} is up to date"),
        (false, true) => {
            return Err(format!("{PICTURE} differs; run `cargo run --example picture`").into());
        }
        (false, false) => {
            std::fs::write(file, svg)?;
            out::note!("{PICTURE}");
        }
    }
    Ok(())
}
