//! Automated checks beyond the tests: simulations of services in `simulation`, and fuzz targets for external inputs in
//! `fuzz`. `json` has random JSON for both and for the test suite.

pub mod fuzz;
pub mod json;
pub mod simulation;
