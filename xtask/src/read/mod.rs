//! Documents as the model: `OpenAPI` 3.0 and 3.1, ours and a vendor's. A run collects all its findings; what it does not
//! understand is refused by name, kept raw, or noted, and never lost.

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
