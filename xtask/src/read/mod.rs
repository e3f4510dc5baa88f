//! Reads `OpenAPI` 3.0 and 3.1 documents into the model, both our own and vendors' documents. A run collects all findings. A
//! part that it doesn't support is rejected, read as raw JSON, or noted, but never ignored.

mod call;
mod crosscheck;
mod derive;
mod directions;
mod fields;
mod form;
mod graph;
mod keywords;
mod object;
mod operation;
mod ours;
mod parameter;
mod reader;
mod reply;
mod scalar;
mod schema;
mod security;
mod settle;
mod spec;
mod structure;
#[cfg(test)]
pub(crate) mod tests;
mod union;
mod view;

pub(crate) use ours::extensions;
pub(crate) use spec::{own_spec, read_document};
pub(crate) use structure::{
    assumptions_of, base_path, follow, inferred, is_null, is_nullable, merged, references,
};
