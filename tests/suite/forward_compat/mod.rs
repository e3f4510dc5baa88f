//! The SDK with later contracts: contract reports, scopes, raw calls, mutated responses, other operations.

mod codegen;
mod contract;
mod deprecations;
mod mutated;
mod raw;
mod scopes;
