//! Control over the server: faults, tokens and time.

use std::io;
use std::time::Duration;

use jiff::Timestamp;

use super::ReferenceServer;
use crate::adapters::Transport;
use crate::faults::Fault;
use crate::own;
use crate::start::invalid;
use crate::token::registry;

/// Faults and tokens.
impl ReferenceServer {
    /// Creates a fault for one operation. The fault does nothing until you set an effect.
    ///
    /// # Panics
    /// If the string is not an `operationId`.
    pub fn fault(&self, operation: impl AsRef<str>) -> Fault {
        let id = &self.suite.named(operation).id;
        Fault::register(&self.suite, Some(id.to_string()))
    }

    /// Creates a fault for every operation. The fault does nothing until you set an effect.
    pub fn fault_everywhere(&self) -> Fault {
        Fault::register(&self.suite, None)
    }

    /// Activates all faults of a fault file, or none if any fault is invalid. The `--faults` option and the control
    /// endpoint accept the same JSON. For each invalid fault, the error names the line, the fault's number, the field,
    /// the rule and the value.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = sdk_reference_server::ReferenceServer::start().await;
    /// let faults = server.load_faults(
    ///     r#"{"faults": [
    ///         {"operation": "listPeople", "when": {"times": 2}, "then": {"status": 503}},
    ///         {"when": {"probability": 0.01, "seed": 7}, "then": {"delaySeconds": 0.5}}
    ///     ]}"#,
    /// )?;
    /// assert_eq!(faults.len(), 2);
    /// # Ok(()) }
    /// ```
    pub fn load_faults(&self, json: &str) -> io::Result<Vec<Fault>> {
        let numbers = self.suite.load_faults(json.as_bytes()).map_err(invalid)?;
        Ok(numbers
            .into_iter()
            .map(|id| Fault::of(&self.suite, id))
            .collect())
    }

    /// Adds all records of a data file, or none if any record is invalid. Returns their references, ordered by kind:
    /// organizations, people, opportunities, tasks, intake submissions, counterparties. A
    /// [`reset`](ReferenceServer::reset) removes these records, but not the records of
    /// [`Builder::data`](crate::Builder::data).
    pub fn load_data(&self, json: &str) -> io::Result<Vec<String>> {
        let mut added = self.suite.load_data(json.as_bytes()).map_err(invalid)?;
        let kinds = own::kinds().filter_map(|kind| added.remove(kind));
        Ok(kinds.flatten().collect())
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.suite.faults.clear();
    }

    /// Sets the lifetime of tokens issued from now on.
    ///
    /// # Panics
    /// If it is zero, or longer than the documented 300 seconds.
    pub fn set_token_lifetime(&self, lifetime: Duration) {
        match registry::lifetime("set_token_lifetime", lifetime) {
            Ok(lifetime) => self.suite.registry().lifetime = lifetime,
            Err(problem) => panic!("{problem}"),
        }
    }

    /// Revokes every token issued so far.
    pub fn revoke_tokens(&self) {
        self.suite.registry().revoke_all();
    }
}

/// Clock and reset.
impl ReferenceServer {
    /// Returns the time by the server's clock. The clock starts at 2026-01-15T09:00:00Z by default.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.suite.clock.now()
    }

    /// Moves the server's clock forward, so tokens age and tasks become overdue. The clock stops at the end of the
    /// year 9999.
    pub fn advance(&self, by: Duration) {
        self.suite.clock.advance(by);
    }

    /// Sets the server's clock to an instant, also backwards. A running clock continues from there; a
    /// [frozen](crate::Builder::frozen_clock) clock stays there.
    ///
    /// Only the time changes: records, tokens and idempotency keys stay. A token is valid until its `exp` by the new
    /// time. If you set the clock back, a token lives longer. The server then accepts a token whose `iat` lies in the
    /// future, and an expired token becomes valid again. A revoked token stays revoked. To end all earlier tokens,
    /// call [`revoke_tokens`](ReferenceServer::revoke_tokens).
    ///
    /// ```
    /// let server = sdk_reference_server::ReferenceServer::builder().frozen_clock().in_memory();
    /// let march = "2026-03-01T09:00:00Z".parse().unwrap();
    /// server.set_clock(march);
    /// assert_eq!(server.now(), march);
    /// ```
    pub fn set_clock(&self, to: Timestamp) {
        self.suite.clock.set(to);
    }

    /// Resets data, counts, recorded requests, clients, time and faults to their initial state. The faults of
    /// [`Builder::faults`](crate::Builder::faults) become active again. The server rejects earlier tokens with 401.
    /// Don't use an earlier [`Fault`] any more, because fault numbers start at one again.
    pub fn reset(&self) {
        self.suite.reset();
    }

    /// Returns the implementation that serves requests.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.suite.settings.transport
    }
}
