//! What `sdk_core::codegen` holds for generated code, used as that uses it: by a client of a service that nobody ships.

#![allow(unreachable_pub, reason = "the macros are for public types")]

mod lists;
mod media;
mod notes;
mod replies;
mod safety;
mod secrets;
