//! The cost of a call: a server, clients that do the same work, load, and measurements.

pub mod allocations;
pub mod clients;
pub mod growth;
pub mod guard;
pub mod listing;
pub mod load;
pub mod micro;
pub mod model;
pub mod payload;
pub mod process;
pub mod report;
pub mod server;
pub mod system;
pub mod token;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;
