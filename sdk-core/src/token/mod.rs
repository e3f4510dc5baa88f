//! Tokens: obtained once for all callers, kept while they live, renewed before they die.
//!
//! A [`TokenSource`] gives tokens; [`ClientCredentialsSource`] is the one for client credentials. A [`TokenCache`]
//! holds one [`TokenEntry`] per audience and scopes, and a client keeps the entry it needs. From there on:
//!
//! * A fresh token costs a read lock and a look at the monotonic clock.
//! * Below about a quarter of its lifetime the next call starts a renewal in the background, and goes on. Below a
//!   tenth it waits for the renewal, and if that fails goes on as long as the token lives. Idle clients renew nothing.
//! * Any number of callers share one renewal, in a task of its own, and its error. Failures are followed by a
//!   growing quiet time in which callers get the last error without traffic.
//! * A 401 drops the token only if it is still the one that was sent.

mod backoff;
mod bearer;
mod cache;
mod entry;
mod error;
mod exchange;
mod flight;
mod form;
mod jwt;
mod lifetime;
mod policy;
mod rejection;
mod reply;
mod source;
mod state;
mod transport;

#[cfg(test)]
mod tests;

pub use bearer::BearerToken;
pub(crate) use bearer::Wiped;
pub use cache::TokenCache;
pub use entry::TokenEntry;
pub use error::{TokenError, TokenErrorKind};
pub use exchange::ClientCredentialsSource;
pub use policy::TokenPolicy;
pub use rejection::Rejection;
pub use source::{AccessToken, TokenFuture, TokenRequest, TokenSource};
