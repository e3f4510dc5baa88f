//! The Platform, besides token exchange. None of its response bodies is shown.

pub(crate) mod apps;
pub(crate) mod oauth {
    pub(crate) use crate::token::exchange::token;
}
pub(crate) mod organization;
pub(crate) mod publications;
