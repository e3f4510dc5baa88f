//! Tests of the clients through their public face, against the reference server or a scripted peer.

mod adopted;
mod codegen;
mod commands;
mod contract;
mod doctor;
mod drift;
mod examples;
mod face;
mod faults;
mod installations;
mod links;
mod memory;
mod observe;
mod open;
mod peer;
mod programs;
mod readme;
mod repository;
mod rooms;
mod samples;
mod support;
mod times;
mod transport;
mod values;
mod walks;
mod wire;
