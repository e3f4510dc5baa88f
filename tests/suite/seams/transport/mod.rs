//! Transports of the caller's own: what they are asked, what is known about their failures, and which promises still hold.

mod elsewhere;
mod evidence;

mod handed;
mod hyper;
mod own;
mod replies;
pub(crate) mod service;

pub(crate) mod front {
    pub(crate) use crate::peer::through;
}
