//! Reports of contract changes and missing scopes.

pub(crate) mod contract;
pub(crate) mod scopes;
