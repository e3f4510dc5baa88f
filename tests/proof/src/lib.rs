//! Machines that look for what people miss: a simulated world of services in `world`, inputs from outside in `fuzz`.

pub mod fuzz;
pub mod world;
