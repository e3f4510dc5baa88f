//! The Platform, besides token exchange. None of its response bodies is shown.

pub(crate) mod apps;
pub(crate) mod organization;
pub(crate) mod publications;
