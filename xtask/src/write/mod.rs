//! Writes the model as files. Each module writes one output. Nothing here reads a document.

mod builder;
mod checks;
pub(crate) mod client;
mod docs;
mod example;
mod object;
pub(crate) mod pages;
pub(crate) mod program;
mod requests;
pub(crate) mod rust;
pub(crate) mod server;
mod table;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod tree;
mod types;
