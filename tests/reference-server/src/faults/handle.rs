//! The fluent face of a fault.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::effects::{Effects, Replacement};
use super::rule::Rule;
use super::schedule::Schedule;
use crate::adapters::Transport;
use crate::generated::operations::Operation;
use crate::message::Drip;
use crate::seconds::Seconds;
use crate::suite::Suite;

/// A fault of one operation, in force from the moment in which it has an effect, until it has struck as often
/// as it should or is removed. Several effects on one fault strike together.
///
/// ```no_run
/// # async fn example() {
/// use std::time::Duration;
/// use sdk_reference_server::{Operation, ReferenceServer};
///
/// let server = ReferenceServer::start().await;
/// // The second and third list of people fail, and say when to come back.
/// server.fault(Operation::ListPeople).skip(1).times(2).status(503).retry_after("1");
/// // The event is created, and nobody hears of it.
/// server.fault(Operation::SubmitEventCommand).times(1).lose_reply();
/// # }
/// ```
///
/// Say `skip`, `every`, `times` and `probability` before the effect if requests are under way meanwhile.
#[derive(Clone)]
pub struct Fault {
    suite: Arc<Suite>,
    id: u64,
}

// The fault is in force whether or not its handle is kept.
#[allow(clippy::return_self_not_must_use)]
impl Fault {
    pub(crate) fn register(suite: &Arc<Suite>, operation: Option<Operation>) -> Fault {
        Fault::of(suite, suite.faults.add(Rule::new(operation)))
    }

    pub(crate) fn of(suite: &Arc<Suite>, id: u64) -> Fault {
        Fault {
            suite: Arc::clone(suite),
            id,
        }
    }

    /// Its number, from one, in the order of registration; the log names it.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Strikes so many times, then no more.
    pub fn times(self, times: u64) -> Fault {
        self.scheduled(|schedule| schedule.times = Some(times))
    }

    /// Lets so many requests through first.
    pub fn skip(self, requests: u64) -> Fault {
        self.scheduled(|schedule| schedule.skip = requests)
    }

    /// Strikes one of every so many requests, beginning with the first.
    pub fn every(self, requests: u64) -> Fault {
        self.scheduled(|schedule| schedule.every = Some(requests))
    }

    /// Strikes with this probability, repeatably for a seed.
    pub fn probability(self, probability: f64, seed: u64) -> Fault {
        self.scheduled(|schedule| {
            schedule.probability = Some(probability);
            schedule.seed = seed;
        })
    }

    /// Answers with this status and does not serve the request.
    ///
    /// # Panics
    /// If it is none from 200 to 599.
    pub fn status(self, status: u16) -> Fault {
        self.with(|effects| effects.status = Some(status))
    }

    /// Adds `Retry-After` to the reply.
    ///
    /// # Panics
    /// If it is not ASCII, or no header can carry it.
    pub fn retry_after(self, value: impl Into<String>) -> Fault {
        self.with(|effects| effects.retry_after = Some(value.into()))
    }

    /// Sets a header of the reply.
    ///
    /// # Panics
    /// If there is no such header, or if it frames the message, as `content-length`, `transfer-encoding` and `connection` do:
    /// [`truncate_body`](Fault::truncate_body), [`break_body`](Fault::break_body) and [`lose_reply`](Fault::lose_reply) break a
    /// message.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Fault {
        self.with(|effects| {
            effects.headers.insert(name.into(), value.into());
        })
    }

    /// Replaces the body of the reply and its media type; an empty media type leaves the header out.
    ///
    /// # Panics
    /// If no header can carry the media type.
    pub fn body(self, body: impl Into<Bytes>, media_type: impl Into<String>) -> Fault {
        let (content, media_type) = (body.into(), media_type.into());
        self.with(|effects| {
            effects.body = Some(Replacement {
                content,
                media_type,
            });
        })
    }

    /// Holds the reply back for so long. What a command does is done at once.
    pub fn delay(self, delay: Duration) -> Fault {
        self.with(|effects| effects.delay = Seconds(delay))
    }

    /// Closes the connection and does not serve the request.
    pub fn close_connection(self) -> Fault {
        self.with(|effects| effects.close_connection = true)
    }

    /// Serves the request, commit included, and closes the connection instead of replying.
    pub fn lose_reply(self) -> Fault {
        self.with(|effects| effects.lose_reply = true)
    }

    /// Serves the request, commit included, and answers with this status if it went well.
    ///
    /// # Panics
    /// If it is none from 200 to 599.
    pub fn reply_after_commit_with(self, status: u16) -> Fault {
        self.with(|effects| effects.reply_after_commit_with = Some(status))
    }

    /// Sends the first half of the body as if it were all of it: well-formed HTTP, broken JSON.
    pub fn truncate_body(self) -> Fault {
        self.with(|effects| effects.truncate_body = true)
    }

    /// Announces the whole body, sends half of it, and closes the connection.
    ///
    /// # Panics
    /// Unless the server was built with [`Transport::Hyper`](crate::Transport::Hyper): wiremock cannot do this.
    pub fn break_body(self) -> Fault {
        self.assert_breakable("break_body()");
        self.with(|effects| effects.break_body = true)
    }

    /// Sends the body slowly: so many bytes at a time, with a pause after each.
    ///
    /// # Panics
    /// If these are none, or unless the server was built with [`Transport::Hyper`](crate::Transport::Hyper): wiremock cannot do
    /// this.
    pub fn drip_body(self, bytes: usize, pause: Duration) -> Fault {
        self.assert_breakable("drip_body()");
        let pause = Seconds(pause);
        self.with(|effects| effects.drip_body = Some(Drip { bytes, pause }))
    }

    /// Revokes the token that the request carries, so that the request is answered with 401.
    pub fn revoke_token(self) -> Fault {
        self.with(|effects| effects.revoke_token = true)
    }

    /// Lets the token that is issued live so long, at most the documented 300 seconds. Concerns the token exchange.
    pub fn token_lifetime(self, lifetime: Duration) -> Fault {
        self.with(|effects| effects.token_lifetime = Some(Seconds(lifetime)))
    }

    /// Lets `expires_in` say this, whatever the truth: `0`, `-1`, `3600`, `"soon"`. Concerns the token exchange.
    pub fn token_expires_in(self, value: impl Into<Value>) -> Fault {
        self.with(|effects| effects.token_expires_in = Some(value.into()))
    }

    /// Leaves `expires_in` out. Concerns the token exchange.
    pub fn omit_expires_in(self) -> Fault {
        self.with(|effects| effects.omit_expires_in = true)
    }

    /// Gives enumerations in the reply a value that no contract knows.
    pub fn unknown_enum(self) -> Fault {
        self.with(|effects| effects.unknown_enum = true)
    }

    /// Adds a member that no contract knows to every object in the reply.
    pub fn unknown_member(self) -> Fault {
        self.with(|effects| effects.unknown_member = true)
    }

    /// Gives the `schemaVersion` of the reply another suffix, such as `v9`.
    pub fn schema_suffix(self, suffix: impl Into<String>) -> Fault {
        self.with(|effects| effects.schema_suffix = Some(suffix.into()))
    }

    /// Every page names the same next page.
    pub fn cursor_loop(self) -> Fault {
        self.cursor_loop_of(1)
    }

    /// The pages name their successors truly so many times, and then the same ones again, round and round.
    pub fn cursor_loop_of(self, pages: usize) -> Fault {
        self.with(|effects| effects.cursor_loop = Some(pages))
    }

    /// How often it struck so far.
    pub fn struck(&self) -> u64 {
        self.suite.faults.struck(self.id)
    }

    /// Takes it out of force.
    pub fn remove(self) {
        self.suite.faults.remove(self.id);
    }

    fn scheduled(self, change: impl FnOnce(&mut Schedule)) -> Fault {
        self.suite
            .faults
            .change(self.id, |rule| change(&mut rule.when));
        self
    }

    fn with(self, change: impl FnOnce(&mut Effects)) -> Fault {
        let mut checked = Ok(());
        self.suite.faults.change(self.id, |rule| {
            let mut then = rule.then.clone();
            change(&mut then);
            checked = then.check();
            if checked.is_ok() {
                rule.then = then;
                rule.begin_rounds();
            }
        });
        if let Err(problem) = checked {
            panic!("{problem}");
        }
        self
    }

    fn assert_breakable(&self, what: &str) {
        let breakable = self.suite.settings.transport == Transport::Hyper;
        assert!(breakable, "{what} needs a server with Transport::Hyper");
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
