//! What a program does with a suite that is ahead of it: contract reports, scopes, raw calls.

mod additions;
mod contract;
mod deprecations;
mod generated;
mod mutated;
mod raw;
mod scopes;
