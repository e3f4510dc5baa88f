//! Who may command: programs on this machine, and no page that happens to be open in a browser.

use http::{Method, StatusCode, header};

use super::Problem;
use crate::hosts::FOREIGN;
use crate::message::Request;
use crate::suite::Suite;

/// Refuses what a browser sends on behalf of a foreign page.
pub(super) fn check(suite: &Suite, request: &Request) -> Result<(), Problem> {
    let forbidden = |message: &str| Err(Problem(StatusCode::FORBIDDEN, message.to_owned()));
    if request.method != Method::GET && request.headers.contains_key(header::ORIGIN) {
        return forbidden("no page may command this server");
    }
    if !suite.hosts.admit(request) {
        return forbidden(FOREIGN);
    }
    Ok(())
}
