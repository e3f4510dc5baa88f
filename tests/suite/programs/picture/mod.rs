//! The picture of the README: a lost reply, with a handwritten loop and with the SDK.
//!
//! Both lanes are runs against a reference server in memory, on a paused clock and with fixed seeds, so the picture is
//! always the same. After a change of the runs, `cargo xtask picture` draws it again.

mod drawing;
mod handwritten;
mod sdk;

use std::path::Path;
use std::time::Duration;

use sdk_reference_server::{Operation, ReferenceServer};
use tokio::time::Instant;

pub(super) type Failure = Box<dyn std::error::Error>;

const PICTURE: &str = "sdk-core/docs/lost_reply.svg";

#[tokio::test(start_paused = true)]
async fn the_picture_matches_the_runs() -> Result<(), Failure> {
    let svg = drawing::svg(&[handwritten::run().await?, sdk::run().await?]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(PICTURE);
    if std::env::var_os("DRAW_PICTURE").is_some() {
        std::fs::write(&file, &svg)?;
    }
    // A checkout may have other line endings.
    let drawn = std::fs::read_to_string(file)?.replace('\r', "");
    assert!(drawn == svg, "{PICTURE} differs: run `cargo xtask picture`");
    Ok(())
}

/// One attempt from the sender's point of view, and the server's counts.
pub(super) struct Attempt {
    pub(super) began: Duration,
    pub(super) ended: Duration,
    /// The status, unless no response arrived.
    pub(super) status: Option<u16>,
    /// The key that the server received.
    pub(super) key: String,
    /// The number of commits on the server when the attempt ended.
    pub(super) commits: u64,
}

/// A run of the loop.
pub(super) struct Lane {
    pub(super) title: &'static str,
    pub(super) attempts: Vec<Attempt>,
    /// Whether the last response was the stored result of an earlier attempt.
    pub(super) replayed: bool,
}

/// An attempt, from the sender's point of view.
pub(super) struct Sent {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) status: Option<u16>,
    pub(super) commits: u64,
}

/// Returns a server that takes 120 ms for a response and loses the first response.
pub(super) fn server() -> ReferenceServer {
    let server = ReferenceServer::in_memory();
    let draft = Operation::CreateInvoiceDraft;
    server.fault(draft).delay(Duration::from_millis(120));
    server.fault(draft).times(1).lose_reply();
    server
}

/// Returns the lane of these attempts, with the keys that the server received.
pub(super) fn lane(
    title: &'static str,
    server: &ReferenceServer,
    sent: &[Sent],
    replayed: bool,
) -> Lane {
    let received = server.requests_for(Operation::CreateInvoiceDraft);
    let begin = sent.first().map(|first| first.began);
    let since = |at: Instant| begin.map_or(Duration::ZERO, |begin| at.duration_since(begin));
    assert_eq!(sent.len(), received.len());
    let attempts = sent.iter().zip(&received).map(|(sent, received)| Attempt {
        began: since(sent.began),
        ended: since(sent.ended),
        status: sent.status,
        key: received.idempotency_key().unwrap_or_default().to_owned(),
        commits: sent.commits,
    });
    Lane {
        title,
        attempts: attempts.collect(),
        replayed,
    }
}
