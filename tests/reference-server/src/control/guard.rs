//! Access control: programs on this machine may control the server, a page open in a browser may not.

use http::{Method, header};

use crate::hosts::{self, FOREIGN};
use crate::message::Request;
use crate::refusal::Refusal;
use crate::suite::Suite;

/// Refuses what a browser sends on behalf of a foreign page.
pub(super) fn check(suite: &Suite, request: &Request) -> Result<(), Refusal> {
    if request.method != Method::GET && request.headers.contains_key(header::ORIGIN) {
        return Err(Refusal::forbidden(
            "foreign_origin",
            "this server takes no commands from a page in a browser",
        ));
    }
    if !hosts::admit(&suite.settings, request) {
        return Err(Refusal::forbidden("foreign_host", FOREIGN));
    }
    Ok(())
}
