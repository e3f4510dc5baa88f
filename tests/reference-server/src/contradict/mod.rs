//! Worlds in which an assumption of the register does not hold.
//!
//! Here, finished replies are rewritten. Where a request is judged, the rest of the server asks
//! [`Suite::contradicts`]. A contract that a test brought along is served as it stands.

mod assumption;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::RawValue;

pub(crate) use assumption::table;
pub use assumption::{Assumption, UnknownAssumption};

use crate::generated::operations::Operation;
use crate::message::Reply;
use crate::suite::{Suite, Visit};

/// The members of an object. What is not rewritten stays as written: amounts keep their digits.
type Members = BTreeMap<String, Box<RawValue>>;

/// Members of successful replies that have another name.
const RENAMED: [(Assumption, &[Operation], &str, &str); 1] = [(
    Assumption::A07,
    &[
        Operation::ListPeople,
        Operation::ListOrganizations,
        Operation::ListTasks,
        Operation::ListIntakeSubmissions,
        Operation::GetPersonTimeline,
    ],
    "items",
    "data",
)];

impl Suite {
    /// Whether this server is a world in which an assumption does not hold.
    pub(crate) fn contradicts(&self, assumption: Assumption) -> bool {
        self.settings.contradicted.contains(&assumption)
    }
}

/// A reply as it is in the worlds of this server.
pub(crate) fn rewrite(visit: &Visit<'_>, mut reply: Reply) -> Reply {
    if !visit.suite.settings.contradicted.is_empty()
        && let Some(body) = rewritten(visit, &reply)
    {
        reply.body = Bytes::from(body);
    }
    reply
}

/// The body, if a world has another one.
fn rewritten(visit: &Visit<'_>, reply: &Reply) -> Option<Vec<u8>> {
    let operation = visit.operation?.written()?;
    let mut members: Members = serde_json::from_slice(&reply.body).ok()?;
    let mut changed = false;
    for (assumption, operations, name, other) in RENAMED {
        if visit.suite.contradicts(assumption) && operations.contains(&operation) {
            let member = members.remove(name)?;
            members.insert(other.to_owned(), member);
            changed = true;
        }
    }
    changed.then(|| serde_json::to_vec(&members).ok()).flatten()
}
