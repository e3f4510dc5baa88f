//! The SDK under contracts that are ahead of it: contract reports, scopes, raw calls, mutated responses, other operations.

mod codegen;
mod contract;
mod deprecations;
mod mutated;
mod raw;
mod scopes;
