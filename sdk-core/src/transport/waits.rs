use std::time::Duration;

/// How long the suite waits for connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    /// How long a connection may take to come up.
    pub(crate) connect: Duration,
    /// How long an HTTP/2 connection with requests under way may be silent before it is pinged.
    pub(crate) ping_interval: Duration,
    /// How long it may take to answer a ping.
    pub(crate) ping_timeout: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            // On loopback and within a region it takes milliseconds.
            connect: Duration::from_secs(5),
            // Together less than the timeout of an attempt, so that a silent connection is dropped before the next one.
            ping_interval: Duration::from_secs(4),
            ping_timeout: Duration::from_secs(4),
        }
    }
}
