//! The Platform. The contract documents only the response body of the token exchange.

pub(crate) mod apps;
pub(crate) mod oauth {
    pub(crate) use crate::token::exchange::token;
}
pub(crate) mod organization;
pub(crate) mod publications;
