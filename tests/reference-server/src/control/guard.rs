//! Access control: programs on this machine may control the server, a page open in a browser may not.

use http::{Method, header};

use crate::hosts;
use crate::message::Request;
use crate::refusal::Refusal;
use crate::suite::Suite;

/// Rejects a request that a browser sends on behalf of a foreign page. The page of this port is its own: the origin names
/// the host that the request is for, which must be one of this server's.
pub(super) fn check(suite: &Suite, request: &Request) -> Result<(), Refusal> {
    hosts::check(&suite.settings, request)?;
    let host = request.header(header::HOST.as_str()).unwrap_or_default();
    let own = format!("http://{host}");
    let mut origins = request.headers.get_all(header::ORIGIN).iter();
    let is_read = matches!(request.method, Method::GET | Method::HEAD);
    if is_read || origins.all(|origin| origin.as_bytes() == own.as_bytes()) {
        return Ok(());
    }
    let message = "this server takes no commands from a foreign page in a browser";
    Err(Refusal::new(403, "foreign_origin", message))
}
