//! Tests of the clients through their public API, against the reference server or a scripted peer.

mod commands;
mod contract;
mod faults;
mod fixtures;
mod forward_compat;
mod modules;
mod pagination;
mod peer;
mod programs;
mod public_api;
mod replies;
mod samples;
mod seams;
mod secrets;
mod support;
