//! The Platform. The contract does not show its response bodies, except for the token exchange.

pub(crate) mod apps;
pub(crate) mod oauth {
    pub(crate) use crate::token::exchange::token;
}
pub(crate) mod organization;
pub(crate) mod publications;
