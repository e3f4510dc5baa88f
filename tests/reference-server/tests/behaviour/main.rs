//! The documented behaviour of the suite, asked for over raw HTTP.

mod accounting;
mod authorization;
mod calendar;
mod commands;
mod faults;
mod lists;
mod peer;
mod platform;
mod reads;
mod server;
mod tokens;
