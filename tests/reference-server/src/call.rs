//! The view that a handler has of a request.

use jiff::Timestamp;

use crate::auth::Caller;
use crate::data::{Record, Table};
use crate::json::Json;
use crate::message::{Reply, Request};
use crate::params::Query;
use crate::refusal::Refusal;
use crate::served::Served;
use crate::suite::Suite;
use crate::token::exchange::Terms;

/// What a handler returns.
pub(crate) type Answer = Result<Reply, Refusal>;

/// What serves the calls of one operation.
pub(crate) type Handler = fn(&Call<'_>) -> Answer;

/// A request whose operation is known and whose caller is authorized.
pub(crate) struct Call<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) operation: Served<'a>,
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
        let missing = || Refusal::unauthenticated("a bearer token is required", false);
        self.caller.as_ref().ok_or_else(missing)
    }

    /// A path parameter, by its place in the template.
    pub(crate) fn param(&self, place: usize) -> &str {
        self.params.get(place).map_or("", String::as_str)
    }

    /// The record that the path names: 400 unless the reference has the documented form, 404 if nothing has it.
    pub(crate) fn record<R: Record>(&self, table: &Table<R>) -> Result<(u64, R), Refusal> {
        let reference = self.param(0);
        R::KIND.check("reference", reference)?;
        table.existing(reference)
    }

    /// The body, which must be JSON by its media type too.
    pub(crate) fn json(&self) -> Result<Json, Refusal> {
        if self.request.media_type().as_deref() != Some("application/json") {
            return Err(Refusal::invalid("Content-Type: must be application/json"));
        }
        Json::read(self.request.body()?)
    }

    /// Counts a durable change made by this operation.
    pub(crate) fn committed(&self) {
        self.suite.counters.committed(self.operation);
    }
}
