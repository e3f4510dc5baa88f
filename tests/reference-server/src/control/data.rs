//! Records over HTTP.

use super::bytes;
use crate::call::Answer;
use crate::message::{Reply, Request};
use crate::refusal::Refusal;
use crate::suite::Suite;

/// Takes what a data file holds.
pub(super) fn load(suite: &Suite, request: &Request, _: &str) -> Answer {
    let added = suite.load_data(bytes(request)?);
    let added = added.map_err(|problem| Refusal::invalid(problem.to_string()))?;
    Ok(Reply::json(201, &added))
}
