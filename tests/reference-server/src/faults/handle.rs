//! The public handle of a fault.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::effects::{Effects, Replacement};
use super::rule::Rule;
use super::schedule::{Header, Member, Schedule};
use crate::message::{Drip, Seconds};
use crate::suite::Suite;

/// A fault for one operation, or for all operations. It becomes active with its first effect, and stays active until it
/// has struck [`times`](Fault::times) times or is removed. If a fault has several effects, they strike together.
///
/// ```no_run
/// # async fn example() {
/// use std::time::Duration;
/// use sdk_reference_server::{Operation, ReferenceServer};
///
/// let server = ReferenceServer::start().await;
/// // The second and third request for people fail with a `Retry-After`.
/// server.fault(Operation::ListPeople).skip(1).times(2).status(503).retry_after("1");
/// // The server creates the event, but the reply is lost.
/// server.fault(Operation::SubmitEventCommand).times(1).lose_reply();
/// # }
/// ```
///
/// If requests can arrive while you build the fault, set `skip`, `every`, `times` and `probability` before the effect.
///
/// # Panics
/// If the server rejects a value, the method panics with the field, the rule and the value, and the fault stays
/// unchanged. [`ReferenceServer::load_faults`](crate::ReferenceServer::load_faults) returns the same message as an
/// error.
#[derive(Clone)]
pub struct Fault {
    suite: Arc<Suite>,
    id: u64,
}

// The fault stays active when its handle is dropped.
#[allow(clippy::return_self_not_must_use)]
impl Fault {
    pub(crate) fn register(suite: &Arc<Suite>, operation: Option<String>) -> Fault {
        Fault::of(suite, suite.faults.add(Rule::new(operation)))
    }

    pub(crate) fn of(suite: &Arc<Suite>, id: u64) -> Fault {
        Fault {
            suite: Arc::clone(suite),
            id,
        }
    }

    /// Returns the fault's number in the log, counted from one in the order of registration.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Strikes `times` requests, then stops.
    pub fn times(self, times: u64) -> Fault {
        self.scheduled(|schedule| schedule.times = Some(times))
    }

    /// Lets the first `requests` matching requests through.
    pub fn skip(self, requests: u64) -> Fault {
        self.scheduled(|schedule| schedule.skip = requests)
    }

    /// Strikes every n-th request, starting with the first. `requests` must be at least 1.
    pub fn every(self, requests: u64) -> Fault {
        self.scheduled(|schedule| schedule.every = Some(requests))
    }

    /// Strikes with this probability, from 0 to 1. The same seed strikes the same requests.
    pub fn probability(self, probability: f64, seed: u64) -> Fault {
        self.scheduled(|schedule| {
            schedule.probability = Some(probability);
            schedule.seed = seed;
        })
    }

    /// Strikes only requests with this value in their path, such as a reference. The value must not be empty.
    pub fn when_path(self, value: impl Into<String>) -> Fault {
        self.scheduled(|schedule| schedule.path = Some(value.into()))
    }

    /// Strikes only requests of this client, identified by its token, or at the token endpoint by its credentials.
    pub fn when_client(self, id: impl Into<String>) -> Fault {
        self.scheduled(|schedule| schedule.client = Some(id.into()))
    }

    /// Strikes only requests that have this header with this value.
    pub fn when_header(self, name: impl Into<String>, value: impl Into<String>) -> Fault {
        let (name, value) = (name.into(), Some(value.into()));
        self.scheduled(|schedule| schedule.header = Some(Header { name, value }))
    }

    /// Strikes only requests whose JSON body has this value at a JSON pointer, such as `/payload/title`.
    pub fn when_member(self, pointer: impl Into<String>, value: impl Into<Value>) -> Fault {
        let (pointer, value) = (pointer.into(), Some(value.into()));
        self.scheduled(|schedule| schedule.member = Some(Member { pointer, value }))
    }

    /// Responds with this status, from 200 to 599, without serving the request.
    pub fn status(self, status: u16) -> Fault {
        self.with(|effects| effects.status = Some(status))
    }

    /// Adds `Retry-After` to the response. The value must be ASCII.
    pub fn retry_after(self, value: impl Into<String>) -> Fault {
        self.with(|effects| effects.retry_after = Some(value.into()))
    }

    /// Sets a header of the response. Headers that frame the message, like `content-length`, `transfer-encoding` and
    /// `connection`, are rejected. To break a message, use [`truncate_body`](Fault::truncate_body),
    /// [`break_body`](Fault::break_body) or [`lose_reply`](Fault::lose_reply).
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Fault {
        self.with(|effects| {
            effects.headers.insert(name.into(), value.into());
        })
    }

    /// Replaces the body of the response and its media type. An empty media type removes the header.
    pub fn body(self, body: impl Into<Bytes>, media_type: impl Into<String>) -> Fault {
        let (content, media_type) = (body.into(), media_type.into());
        self.with(|effects| {
            effects.body = Some(Replacement {
                content,
                media_type,
            });
        })
    }

    /// Delays the response. A command still takes effect without delay.
    pub fn delay(self, delay: Duration) -> Fault {
        self.with(|effects| effects.delay = Seconds(delay))
    }

    /// Refuses the connection. The request is not sent, its body is not read, and the server doesn't count it. Only a
    /// server in memory can do this, because a socket can't refuse a connection based on the request.
    pub fn refuse_connection(self) -> Fault {
        self.with(|effects| effects.refuse_connection = true)
    }

    /// Closes the connection and does not serve the request.
    pub fn close_connection(self) -> Fault {
        self.with(|effects| effects.close_connection = true)
    }

    /// Serves the request, including its commit, then closes the connection without a response.
    pub fn lose_reply(self) -> Fault {
        self.with(|effects| effects.lose_reply = true)
    }

    /// Serves the request, including its commit, then keeps the connection open without a response.
    /// [`Transport::Wiremock`](crate::Transport::Wiremock) can't do this.
    pub fn stall(self) -> Fault {
        self.with(|effects| effects.stall = true)
    }

    /// Serves the request, including its commit. If it succeeded, responds with this status, from 200 to 599.
    pub fn reply_after_commit_with(self, status: u16) -> Fault {
        self.with(|effects| effects.reply_after_commit_with = Some(status))
    }

    /// Sends only the first half of the body, as valid HTTP with broken JSON.
    pub fn truncate_body(self) -> Fault {
        self.with(|effects| effects.truncate_body = true)
    }

    /// Declares the length of the full body, sends half of it, and closes the connection.
    /// [`Transport::Wiremock`](crate::Transport::Wiremock) can't do this.
    pub fn break_body(self) -> Fault {
        self.with(|effects| effects.break_body = true)
    }

    /// Sends the body slowly: `bytes` at a time (at least 1), with a pause after each piece.
    /// [`Transport::Wiremock`](crate::Transport::Wiremock) can't do this.
    pub fn drip_body(self, bytes: usize, pause: Duration) -> Fault {
        let pause = Seconds(pause);
        self.with(|effects| effects.drip_body = Some(Drip { bytes, pause }))
    }

    /// Revokes the request's token, so that the response is a 401.
    pub fn revoke_token(self) -> Fault {
        self.with(|effects| effects.revoke_token = true)
    }

    /// Sets the lifetime of the issued token, at most the documented 300 seconds. Only for the token exchange.
    pub fn token_lifetime(self, lifetime: Duration) -> Fault {
        self.with(|effects| effects.token_lifetime = Some(Seconds(lifetime)))
    }

    /// Sets `expires_in` to any value, independent of the real lifetime, for example `0`, `-1`, `3600` or `"soon"`.
    /// Null omits the field. Only for the token exchange.
    pub fn token_expires_in(self, value: impl Into<Value>) -> Fault {
        self.with(|effects| effects.token_expires_in = Some(value.into()))
    }

    /// Omits `expires_in`. Only for the token exchange.
    pub fn omit_expires_in(self) -> Fault {
        self.with(|effects| effects.omit_expires_in = true)
    }

    /// Replaces enumeration values in the response with a value that no contract contains.
    pub fn unknown_enum(self) -> Fault {
        self.with(|effects| effects.unknown_enum = true)
    }

    /// Adds a field that no contract contains to every object in the response.
    pub fn unknown_member(self) -> Fault {
        self.with(|effects| effects.unknown_member = true)
    }

    /// Replaces the suffix of the response's `schemaVersion`, for example with `v9`.
    pub fn schema_suffix(self, suffix: impl Into<String>) -> Fault {
        self.with(|effects| effects.schema_suffix = Some(suffix.into()))
    }

    /// Makes every page name the same next page.
    pub fn cursor_loop(self) -> Fault {
        self.cursor_loop_of(1)
    }

    /// Serves the first `pages` pages with correct cursors, then repeats these cursors forever.
    pub fn cursor_loop_of(self, pages: usize) -> Fault {
        self.with(|effects| effects.cursor_loop = Some(pages))
    }

    /// Returns the number of times that the fault has struck.
    pub fn struck(&self) -> u64 {
        self.suite.faults.struck(self.id)
    }

    /// Removes the fault.
    pub fn remove(self) {
        self.suite.faults.remove(self.id);
    }

    fn scheduled(self, change: impl FnOnce(&mut Schedule)) -> Fault {
        self.changed(|rule| change(&mut rule.when))
    }

    fn with(self, change: impl FnOnce(&mut Effects)) -> Fault {
        self.changed(|rule| change(&mut rule.then))
    }

    /// Changes the fault. If the change is invalid, panics and leaves the fault unchanged.
    fn changed(self, change: impl FnOnce(&mut Rule)) -> Fault {
        let changed = self.suite.faults.change(self.id, |rule| {
            change(rule);
            rule.check(&self.suite)
        });
        if let Err(problem) = changed {
            panic!("{problem}");
        }
        self
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
