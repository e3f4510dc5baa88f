//! Lists as streams of pages and items, with checkpoints. `docs/pagination.md` describes their behavior.
//!
//! The page type is in module `reply`.

pub(crate) mod checkpoint;
pub(crate) mod cursor_guard;
pub(crate) mod fetch;
pub(crate) mod items;
pub(crate) mod pages;
