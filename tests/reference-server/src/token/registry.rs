//! The registry of clients and tokens: credentials, lifetimes, revocations.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use crate::client::ClientSpec;

/// The documented maximum lifetime of a token.
pub(crate) const LONGEST_LIFE: Duration = Duration::from_secs(300);

/// Returns the lifetime in whole milliseconds, or an error if the documented rules forbid it.
pub(crate) fn lifetime(setting: &str, asked: Duration) -> Result<Duration, String> {
    let millis = u64::try_from(asked.as_millis()).unwrap_or(u64::MAX);
    if millis == 0 || asked > LONGEST_LIFE {
        let asked = asked.as_secs_f64();
        let rule = "must be from 0.001 to 300 seconds, the documented maximum";
        return Err(format!("{setting}: {rule}: got {asked}"));
    }
    Ok(Duration::from_millis(millis))
}

/// A client and the actor that it acts for.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) spec: ClientSpec,
    pub(crate) scopes: Vec<String>,
    pub(crate) actor: u64,
    /// The number of the client's first token. Tokens of an earlier client with this ID are rejected.
    since: u64,
}

#[derive(Debug)]
pub(crate) struct Registry {
    pub(crate) clients: BTreeMap<String, Registered>,
    /// The lifetime of tokens issued from now on.
    pub(crate) lifetime: Duration,
    issued: u64,
    revoked_below: u64,
    revoked: HashSet<u64>,
}

impl Registry {
    pub(crate) fn new(lifetime: Duration) -> Registry {
        Registry {
            clients: BTreeMap::new(),
            lifetime,
            issued: 0,
            revoked_below: 0,
            revoked: HashSet::new(),
        }
    }

    /// Resets the lifetime, removes the clients and revokes their tokens.
    pub(crate) fn restart(&mut self, lifetime: Duration) {
        self.lifetime = lifetime;
        self.clients.clear();
        self.revoke_all();
    }

    /// Adds a client. If it replaces a client with the same ID, the tokens of that client stay valid.
    pub(crate) fn add(&mut self, spec: ClientSpec, scopes: Vec<String>, actor: u64) {
        let known = self.clients.get(&spec.id);
        let client = Registered {
            since: known.map_or(self.issued + 1, |known| known.since),
            scopes,
            actor,
            spec,
        };
        self.clients.insert(client.spec.id.clone(), client);
    }

    /// Whether a client may still use its token with this number.
    pub(crate) fn honors(&self, client_id: &str, number: u64) -> bool {
        let client = self.clients.get(client_id);
        client.is_some_and(|client| client.since <= number)
            && number >= self.revoked_below
            && !self.revoked.contains(&number)
    }

    pub(crate) fn authenticate(&self, id: &str, secret: &str) -> Option<&Registered> {
        self.clients
            .get(id)
            .filter(|client| client.spec.secret == secret)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }

    pub(crate) fn revoke_all(&mut self) {
        self.revoked_below = self.issued + 1;
        self.revoked.clear();
    }

    pub(crate) fn revoke(&mut self, number: u64) {
        if number >= self.revoked_below {
            self.revoked.insert(number);
        }
    }
}
