//! What a program does with a suite that is ahead of it: contract reports, scopes, schema versions, raw calls.

mod additions;
mod contract;
mod raw;
mod schema;
mod scopes;
