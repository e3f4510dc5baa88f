//! Lists as streams of pages and items, with checkpoints. `docs/walking.md` describes their behaviour.
//!
//! The type of a page belongs in `reply`.

pub(crate) mod checkpoint;
pub(crate) mod cursor_guard;
pub(crate) mod fetch;
pub(crate) mod items;
pub(crate) mod pages;
