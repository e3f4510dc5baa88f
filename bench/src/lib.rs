//! What a call costs: a server, clients that do the same work, load, and measures.

pub mod allocations;
pub mod clients;
pub mod growth;
pub mod guard;
mod listener;
pub mod load;
pub mod measure;
pub mod micro;
pub mod model;
pub mod observer;
pub mod payload;
pub mod process;
#[cfg(feature = "peers")]
pub mod report;
pub mod server;
pub mod system;
pub mod token;
pub mod walk;
pub mod worker;

/// Counts for whoever asks.
#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;
