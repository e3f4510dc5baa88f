//! What a handler gets to see of a request that may be served.

use jiff::Timestamp;

use crate::auth::Caller;
use crate::data::reference::Kind;
use crate::generated::operations::Operation;
use crate::json::Json;
use crate::message::{Reply, Request};
use crate::params::Query;
use crate::refusal::Refusal;
use crate::suite::Suite;
use crate::token::exchange::Terms;

/// What a handler gives back.
pub(crate) type Answer = Result<Reply, Refusal>;

/// A request whose operation is known and whose caller is authorized.
pub(crate) struct Call<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) operation: Operation,
    pub(crate) request: &'a Request,
    pub(crate) params: Vec<String>,
    pub(crate) query: Query,
    pub(crate) caller: Option<Caller>,
    pub(crate) terms: Terms,
    pub(crate) now: Timestamp,
}

impl Call<'_> {
    /// The caller of a protected operation.
    pub(crate) fn caller(&self) -> Result<&Caller, Refusal> {
        let missing = || Refusal::unauthenticated("a bearer token is needed", false);
        self.caller.as_ref().ok_or_else(missing)
    }

    /// A path parameter, by its place in the template.
    pub(crate) fn param(&self, place: usize) -> &str {
        self.params.get(place).map_or("", String::as_str)
    }

    /// A path parameter that is a reference: 400 unless it has the documented form.
    pub(crate) fn reference(&self, kind: Kind) -> Result<&str, Refusal> {
        let text = self.param(0);
        if kind.matches(text) {
            return Ok(text);
        }
        let message = format!("reference: {}… is needed", kind.prefix());
        Err(Refusal::invalid(message))
    }

    /// The body, which must be JSON and say so.
    pub(crate) fn json(&self) -> Result<Json, Refusal> {
        if self.request.media_type().as_deref() != Some("application/json") {
            return Err(Refusal::invalid("Content-Type: application/json is needed"));
        }
        Json::read(self.request.body()?)
    }

    /// Counts a durable change made by this operation.
    pub(crate) fn committed(&self) {
        self.suite.counters.committed(self.operation);
    }
}
