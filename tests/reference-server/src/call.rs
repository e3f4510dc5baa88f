//! The request as a handler sees it.

use jiff::Timestamp;
use serde_json::Value;

use crate::auth::Caller;
use crate::data::{Record, Table};
use crate::message::{Reply, Request};
use crate::refusal::Refusal;
use crate::schema::{Sent, Served};
use crate::suite::Suite;
use crate::token::exchange::Terms;

pub(crate) type Answer = Result<Reply, Refusal>;

pub(crate) type Handler = fn(&Call<'_>) -> Answer;

/// A request whose operation is known and whose caller is authorized.
pub(crate) struct Call<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) operation: &'a Served,
    pub(crate) request: &'a Request,
    pub(crate) params: Vec<String>,
    pub(crate) sent: Sent,
    pub(crate) caller: Option<Caller>,
    pub(crate) terms: Terms,
    pub(crate) now: Timestamp,
}

impl Call<'_> {
    pub(crate) fn caller(&self) -> Result<&Caller, Refusal> {
        let missing = || Refusal::unauthenticated("a bearer token is required", false);
        self.caller.as_ref().ok_or_else(missing)
    }

    /// Returns a path parameter by its position in the template.
    pub(crate) fn param(&self, place: usize) -> &str {
        self.params.get(place).map_or("", String::as_str)
    }

    /// Returns the record that the path names, or a 404 if it doesn't exist.
    pub(crate) fn record<R: Record>(&self, table: &Table<R>) -> Result<(u64, R), Refusal> {
        table.existing(self.param(0))
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.sent.query.get(name)?.as_str()
    }

    /// The contract gives each `limit` a default.
    pub(crate) fn limit(&self) -> usize {
        let limit = self.sent.query.get("limit").and_then(Value::as_u64);
        limit.and_then(|limit| limit.try_into().ok()).unwrap_or(1)
    }

    /// Returns the body, if it is JSON or a form.
    pub(crate) fn body(&self) -> &Value {
        self.sent.body.as_ref().unwrap_or(&Value::Null)
    }

    /// Counts a durable change by this operation.
    pub(crate) fn committed(&self) {
        self.suite.counters.committed(self.operation);
    }
}
