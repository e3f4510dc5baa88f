//! The parts of `sdk_core::codegen` that no operation of the four applications needs, used as generated code uses them.

mod notes;
mod replies;
mod requests;
mod safety;
mod secrets;
