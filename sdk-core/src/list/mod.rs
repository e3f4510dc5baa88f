//! Lists as streams of pages and items, and where a walk stands. The guide says how they behave: `docs/lists.md`.
//!
//! A page's own type is in `reply`.

pub(crate) mod checkpoint;
pub(crate) mod cycle;
pub(crate) mod fetch;
pub(crate) mod items;
pub(crate) mod pages;
