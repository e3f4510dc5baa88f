//! Access control: programs on this machine may control the server, a page open in a browser may not.

use http::{Method, header};

use crate::hosts;
use crate::message::Request;
use crate::refusal::Refusal;
use crate::suite::Suite;

/// Refuses what a browser sends on behalf of a foreign page.
pub(super) fn check(suite: &Suite, request: &Request) -> Result<(), Refusal> {
    if !matches!(request.method, Method::GET | Method::HEAD)
        && request.headers.contains_key(header::ORIGIN)
    {
        return Err(Refusal::new(
            403,
            "foreign_origin",
            "this server takes no commands from a page in a browser",
        ));
    }
    hosts::check(&suite.settings, request)
}
