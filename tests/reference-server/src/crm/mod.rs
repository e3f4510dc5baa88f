//! The CRM.

pub(crate) mod actors;
pub(crate) mod commands;
pub(crate) mod funnel;
pub(crate) mod intake;
mod listing;
pub(crate) mod opportunities;
pub(crate) mod organizations;
pub(crate) mod people;
pub(crate) mod presentation;
mod review;
pub(crate) mod search;
pub(crate) mod service;
mod tallies;
pub(crate) mod tasks;
pub(crate) mod today;
