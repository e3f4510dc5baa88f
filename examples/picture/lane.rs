//! What happened in a run, and the server that both runs talk to.

use std::time::Duration;

use sdk_reference_server::{Operation, ReferenceServer};
use tokio::time::Instant;

pub(crate) type Failure = Box<dyn std::error::Error>;

/// One attempt as its sender saw it, and what the server knows of it.
pub(crate) struct Attempt {
    pub(crate) began: Duration,
    pub(crate) ended: Duration,
    /// The status; none if no reply came.
    pub(crate) status: Option<u16>,
    /// The key that the server received.
    pub(crate) key: String,
    /// How many commands the server had committed when the attempt ended.
    pub(crate) commits: u64,
}

/// A run.
pub(crate) struct Lane {
    pub(crate) title: &'static str,
    pub(crate) attempts: Vec<Attempt>,
    /// Whether the last reply was the stored result of an earlier attempt.
    pub(crate) replayed: bool,
}

/// What an attempt was, for its sender.
pub(crate) struct Sent {
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    pub(crate) status: Option<u16>,
    pub(crate) commits: u64,
}

/// A server that needs 120 ms for a reply, and loses the first one.
pub(crate) fn server() -> ReferenceServer {
    let server = ReferenceServer::in_memory();
    let draft = Operation::CreateInvoiceDraft;
    server.fault(draft).delay(Duration::from_millis(120));
    server.fault(draft).times(1).lose_reply();
    server
}

/// The lane of what was sent, with the keys that the server received.
pub(crate) fn lane(
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
