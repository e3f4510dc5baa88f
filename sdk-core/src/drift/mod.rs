//! For the day when the service and this SDK no longer agree: reports of what differs, and calls without generated code.

pub(crate) mod contract;
pub(crate) mod raw;
pub(crate) mod scopes;
