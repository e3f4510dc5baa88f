#![doc = include_str!("../README.md")]

mod generated;

pub use generated::client::Client;
pub use generated::requests::*;
pub use generated::{operations, types};
pub use sdk_core::*;
