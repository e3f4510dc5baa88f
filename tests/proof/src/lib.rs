//! Automated checks that look further than tests: a simulated world of services in `world`, inputs from outside in `fuzz`, and
//! the random JSON of both and of the suite in `json`.

pub mod fuzz;
pub mod json;
pub mod world;
