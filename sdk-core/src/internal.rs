//! The token engine, for the benchmarks and tests of this repository. It is not part of the public interface.

pub use crate::token::cache::TokenCache;
pub use crate::token::entry::TokenEntry;
pub use crate::token::exchange::ClientCredentialsSource;
pub use crate::transport::connections::Sender;
