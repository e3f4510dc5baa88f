//! Commands to store, stored commands, and their counts.

use std::fmt;
use std::time::{Duration, SystemTime};

use sdk_core::PreparedCommand;

use crate::error::Error;

/// The longest lane, reference and installation, in bytes. PostgreSQL limits the length of indexed values.
const MAX_NAME: usize = 500;

/// A command to store, for [`sqlite::enqueue`](crate::sqlite::enqueue) or
/// [`postgres::enqueue`](crate::postgres::enqueue).
///
/// ```
/// # fn example(prepared: &sdk_core::PreparedCommand) {
/// use sdk_outbox::Entry;
///
/// let entry = Entry::new(prepared).lane("order-9").reference("order-9");
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Entry<'a> {
    pub(crate) command: &'a PreparedCommand,
    pub(crate) installation: &'a str,
    pub(crate) lane: Option<&'a str>,
    pub(crate) reference: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Creates an entry without a lane, for the installation without a label.
    pub fn new(command: &'a PreparedCommand) -> Self {
        Self {
            command,
            installation: "",
            lane: None,
            reference: None,
        }
    }

    /// Sets the [label](sdk_core::SuiteBuilder::label) of the installation that receives the command.
    ///
    /// Only a sender with this label sends the command. Without this setting, only a sender whose suite has no label
    /// sends it.
    pub fn installation(mut self, label: &'a str) -> Self {
        self.installation = label;
        self
    }

    /// Sets the lane, an ordering key of at most 500 bytes.
    ///
    /// Workers send the commands of a lane one at a time, in commit order. A parked command blocks its lane until an
    /// operator retries or drops it.
    ///
    /// All installations and applications share the names of lanes. If each of your customers has an installation,
    /// begin the lane with the customer's ID. Otherwise, one customer's outage can block another customer's lane.
    pub fn lane(mut self, lane: &'a str) -> Self {
        self.lane = Some(lane);
        self
    }

    /// Sets your own ID of at most 500 bytes, such as an order number, that lets an operator identify the command.
    pub fn reference(mut self, reference: &'a str) -> Self {
        self.reference = Some(reference);
        self
    }

    /// Returns the stored form of the command, or an error if another column is invalid.
    pub(crate) fn body(&self) -> Result<String, Error> {
        // PostgreSQL can't store NUL.
        let is_odd = |value: &str| value.contains('\0');
        let does_not_fit =
            |value: &str| value.is_empty() || value.len() > MAX_NAME || is_odd(value);
        let invalid = |parameter, rule, value: &str| Error::Invalid {
            parameter,
            rule,
            value: format!("{} bytes long", value.len()),
        };
        for (parameter, value) in [("lane", self.lane), ("reference", self.reference)] {
            if let Some(value) = value.filter(|it| does_not_fit(it)) {
                return Err(invalid(parameter, "have 1 to 500 bytes and no NUL", value));
            }
        }
        if self.installation.len() > MAX_NAME || is_odd(self.installation) {
            let rule = "have at most 500 bytes and no NUL";
            return Err(invalid("installation", rule, self.installation));
        }
        serde_json::to_string(self.command)
            .map_err(|error| invalid("command", "be JSON", &error.to_string()))
    }
}

/// The state of a stored command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// No worker has read it yet.
    New,
    /// A worker can claim it as soon as it is due.
    Ready,
    /// It waits for an earlier command of its lane.
    Waiting,
    /// A worker has claimed it until its lease expires.
    Leased,
    /// It is set aside until an operator retries or drops it.
    Parked,
    /// The application has applied it, and the receipt is stored.
    Done,
    /// An operator dropped it, so it is never sent.
    Dropped,
}

impl State {
    /// All states. The index of a state is its number in the `state` column.
    pub const ALL: [Self; 7] = [
        Self::New,
        Self::Ready,
        Self::Waiting,
        Self::Leased,
        Self::Parked,
        Self::Done,
        Self::Dropped,
    ];

    /// Returns the state with this number, or `New` for an unknown number.
    pub(crate) fn numbered(number: i16) -> Self {
        let known = usize::try_from(number)
            .ok()
            .and_then(|it| Self::ALL.get(it));
        known.copied().unwrap_or(Self::New)
    }

    /// Returns the stable name for counts and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Parked => "parked",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }
}

/// A stored command, as a store returned it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredCommand {
    /// Its ID in the table.
    pub id: i64,
    /// The state when the command was read.
    pub state: State,
    /// The application that receives the command.
    pub application: String,
    /// The label of the installation that receives the command, or an empty string for the installation without a
    /// label.
    pub installation: String,
    /// The lane, if it has one.
    pub lane: Option<String>,
    /// Your own ID from [`Entry::reference`].
    pub reference: Option<String>,
    /// The time between storing and reading the command.
    pub age: Duration,
    /// The number of attempts since the command was stored or retried by an operator.
    pub attempts: u32,
    /// The first time at which the command may have been sent, or `None` if it is known to be unsent.
    pub first_sent: Option<SystemTime>,
    /// The reason why the command is parked: a name of [`ParkReason::as_str`](crate::ParkReason::as_str),
    /// `unreadable`, `not_settled` or `check_failed`.
    pub reason: Option<String>,
    /// The last error, or the operator's reason for dropping the command.
    pub note: Option<String>,
    /// A note on a response that arrived after the lease had expired, so the command is known to have been applied.
    pub late: Option<String>,
    pub(crate) command: Body,
}

impl StoredCommand {
    /// Returns the prepared command.
    ///
    /// # Errors
    /// If the `command` column doesn't contain the stored form of a command.
    pub fn prepared(&self) -> Result<PreparedCommand, String> {
        let stored = self.command.0.as_deref().ok_or("it has no body")?;
        let command: PreparedCommand =
            serde_json::from_str(stored).map_err(|error| match error.classify() {
                // serde's message isn't included, because it may quote the body.
                serde_json::error::Category::Data => {
                    "it is not the stored form of a command".to_owned()
                }
                _ => format!(
                    "it is not JSON: line {}, column {}",
                    error.line(),
                    error.column()
                ),
            })?;
        command
            .verify()
            .map_err(|error| error.message().to_owned())?;
        Ok(command)
    }
}

/// The stored form of a command. `Debug` doesn't print it, because it is as confidential as the command.
#[derive(Clone)]
pub(crate) struct Body(pub(crate) Option<String>);

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.as_ref().map_or(0, String::len))
    }
}

/// The receipt of a stored command.
#[derive(Clone)]
#[non_exhaustive]
pub struct StoredReceipt {
    /// The HTTP status.
    pub http_status: u16,
    /// Whether the application had applied the command before, if the response says so.
    pub replayed: Option<bool>,
    /// The body of the response.
    pub body: String,
}

impl StoredReceipt {
    /// Returns the note for a receipt that arrived after the lease had expired.
    pub(crate) fn late(&self) -> String {
        format!("it was applied: status {}", self.http_status)
    }
}

impl fmt::Debug for StoredReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredReceipt")
            .field("http_status", &self.http_status)
            .field("replayed", &self.replayed)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

/// The number of commands in an outbox, by state, and the oldest unsent command.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Status {
    /// The counts by state, and for parked commands also by reason. A state without commands is absent.
    pub counts: Vec<Count>,
    /// The oldest command that is new, ready, waiting or leased.
    pub oldest: Option<StoredCommand>,
}

/// The number of commands in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The state.
    pub state: State,
    /// The reason why they are parked.
    pub reason: Option<String>,
    /// The number of commands.
    pub commands: u64,
}

impl Status {
    /// Returns the number of commands in this state.
    #[must_use]
    pub fn count(&self, state: State) -> u64 {
        let counts = self.counts.iter().filter(|it| it.state == state);
        counts.map(|it| it.commands).sum()
    }
}
