//! progenitor as the schema engine: its type graph says which type of Rust each member and each parameter has. Nothing
//! of what it prints is used.

mod graph;
mod view;

pub(crate) use graph::run;
