//! Transports of the caller's own: what they are asked, what is known about their failures, and which promises still hold.

mod elsewhere;
mod evidence;
pub(crate) mod front;
mod handed;
mod hyper;
mod own;
mod replies;
pub(crate) mod service;
