//! Lists as streams: of pages, of items, resumable and bounded in memory.
//!
//! The contract does not say how long a cursor lives or how far a list can be walked. A cursor that the server no
//! longer takes gives its 400; then the walk has to start again.

mod checkpoint;
mod cycle;
mod items;
mod pages;

pub use checkpoint::Checkpoint;
pub use items::Items;
pub use pages::Pages;
