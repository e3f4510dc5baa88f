//! The engine of tokens, for the benchmarks and tests of this repository. It is no part of the public face.

pub use crate::token::cache::TokenCache;
pub use crate::token::entry::TokenEntry;
pub use crate::token::exchange::ClientCredentialsSource;
