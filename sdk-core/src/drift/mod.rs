//! For services that differ from this SDK: reports of the differences, and calls without generated code.

pub(crate) mod contract;
pub(crate) mod scopes;
