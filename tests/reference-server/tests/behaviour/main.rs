//! Tests of the suite's documented behavior over raw HTTP.

mod accounting;
mod addresses;
mod calendar;
mod commands;
mod contract;
mod contradict;
mod control;
mod faults;
mod funnel;
mod guide;
mod http;
mod lists;
mod members;
mod memory;
mod moves;
mod notations;
mod odd_contracts;
mod own;
mod pages;
mod payloads;
mod peer;
mod platform;
mod program;
mod rows;
mod server;
#[cfg(feature = "es256")]
mod signing;
mod strangers;
mod time;
mod tokens;
