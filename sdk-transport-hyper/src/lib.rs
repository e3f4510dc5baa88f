#![doc = include_str!("../README.md")]

mod builder;
mod connector;
mod response;
mod transport;

pub use builder::HyperTransportBuilder;
pub use transport::{HyperService, HyperTransport};
/// The libraries whose types configure a [`HyperTransport`].
pub use {hyper_util, rustls};

type BoxError = Box<dyn std::error::Error + Send + Sync>;
