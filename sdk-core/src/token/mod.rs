//! Tokens: obtained once for all callers, kept while they live, renewed before they die.
//!
//! A [`TokenSource`](crate::TokenSource) gives tokens; [`ClientCredentialsSource`] is the one for client credentials. A [`TokenCache`]
//! holds one [`TokenEntry`] per audience and scopes, and a client keeps the entry it needs. From there on:
//!
//! * A fresh token costs a read lock and a look at the monotonic clock.
//! * Below about a quarter of its lifetime the next call starts a renewal in the background, and goes on. Below a
//!   tenth it waits for the renewal if the token would not outlive its attempt, for half of what is left at most, and if
//!   the renewal fails goes on as long as the token lives. Idle clients renew nothing.
//! * Any number of callers share one renewal, in a task of its own, and its error. Whichever renewal delivers serves all of
//!   them. One that is slow is waited for; one is taken for lost when its runtime is gone, or shows no sign of life.
//! * Failures are followed by a growing quiet time in which callers get the last error without traffic. A token that is
//!   dead on arrival is a failure, and a live token is not given up for one that ends sooner.
//! * A 401 drops the token only if it is still the one that was sent: at once, unless the operation, or the path, has lately
//!   refused token after token as soon as they came. Then it does ever more rarely, so that one that refuses every token
//!   robs no other.

pub(crate) mod bearer;
pub(crate) mod cache;
pub(crate) mod credentials;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod exchange;
pub(crate) mod flight;
pub(crate) mod form;
pub(crate) mod jwt;
pub(crate) mod lifetime;
pub(crate) mod policy;
pub(crate) mod rejection;
pub(crate) mod renewal;
pub(crate) mod reply;
pub(crate) mod source;
pub(crate) mod state;
pub(crate) mod transport;

#[cfg(test)]
mod tests;

pub use bearer::BearerToken;
pub use cache::TokenCache;
pub use entry::TokenEntry;
pub use error::TokenErrorKind;
pub use exchange::ClientCredentialsSource;
pub use rejection::{Rejection, Target};
