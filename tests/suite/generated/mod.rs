//! What `sdk_core::codegen` holds for generated code, used as that uses it: by a client of a service that nobody ships.

mod lists;
mod notes;
