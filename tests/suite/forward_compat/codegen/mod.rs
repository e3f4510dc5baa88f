//! The parts of `sdk_core::codegen` that the four applications don't use, called as generated code calls them.

mod notes;
mod replies;
mod requests;
mod safety;
mod secrets;
