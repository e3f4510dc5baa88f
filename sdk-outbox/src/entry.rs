//! A command to store, a command that is stored, and how many there are.

use std::fmt;
use std::time::{Duration, SystemTime};

use sdk_core::PreparedCommand;

use crate::error::Error;

/// The longest lane, reference and installation, in bytes: PostgreSQL indexes them.
const MAX_NAME: usize = 500;

/// A command to store, for `enqueue` of a store.
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
    /// A command in no lane, for the installation without a label.
    pub fn new(command: &'a PreparedCommand) -> Self {
        Self {
            command,
            installation: "",
            lane: None,
            reference: None,
        }
    }

    /// Sets the [label](sdk_core::SuiteBuilder::label) of the installation that the command is for. Only a sender with this
    /// label sends it. Without it, only a sender whose suite has no label does.
    pub fn installation(mut self, label: &'a str) -> Self {
        self.installation = label;
        self
    }

    /// Sets the lane, an ordering key such as a message group: its commands are sent one after another, in the order of their
    /// commits. At most 500 bytes. A parked command blocks its lane until an operator retries or drops it.
    ///
    /// All installations and applications share the names of lanes. If each of your customers has an installation, begin the
    /// lane with the customer, or one customer's outage blocks a lane of another.
    pub fn lane(mut self, lane: &'a str) -> Self {
        self.lane = Some(lane);
        self
    }

    /// Sets your own ID, such as an order number, by which operators recognize the command. At most 500 bytes.
    pub fn reference(mut self, reference: &'a str) -> Self {
        self.reference = Some(reference);
        self
    }

    /// The stored form of the command, if the other columns are valid.
    pub(crate) fn body(&self) -> Result<String, Error> {
        // PostgreSQL stores no NUL.
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
    /// No worker has seen it yet.
    New,
    /// A worker can claim it when it is due.
    Ready,
    /// Another command of its lane comes first.
    Waiting,
    /// A worker has it, until its lease ends.
    Leased,
    /// An operator must look at it.
    Parked,
    /// It has its receipt.
    Done,
    /// An operator dropped it.
    Dropped,
}

impl State {
    /// All of them, by the number in the column `state`.
    pub const ALL: [Self; 7] = [
        Self::New,
        Self::Ready,
        Self::Waiting,
        Self::Leased,
        Self::Parked,
        Self::Done,
        Self::Dropped,
    ];

    /// The state with this number; an unknown one is a command that no worker has seen.
    pub(crate) fn numbered(number: i16) -> Self {
        let known = usize::try_from(number)
            .ok()
            .and_then(|it| Self::ALL.get(it));
        known.copied().unwrap_or(Self::New)
    }

    /// The name in counts and metrics, which never changes.
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

/// A command as it is stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredCommand {
    /// Its ID in the table.
    pub id: i64,
    /// Its state when it was read.
    pub state: State,
    /// The application that it is for.
    pub application: String,
    /// The label of the installation that it is for; empty for the installation without one.
    pub installation: String,
    /// Its lane.
    pub lane: Option<String>,
    /// Your own ID.
    pub reference: Option<String>,
    /// The time since it was stored, when it was read.
    pub age: Duration,
    /// The number of attempts since it was stored or retried.
    pub attempts: u32,
    /// The time since which it may have been sent; `None` if it was certainly not sent.
    pub first_sent: Option<SystemTime>,
    /// Why it is parked: a name of [`ParkReason::as_str`](crate::ParkReason::as_str), or `unreadable`, `not_settled` or
    /// `check_failed`.
    pub reason: Option<String>,
    /// The last error, or the operator's reason for dropping it.
    pub note: Option<String>,
    /// A response that arrived after the lease had expired: the command was applied.
    pub late: Option<String>,
    /// The stored form.
    pub(crate) command: Body,
}

impl StoredCommand {
    /// The command.
    ///
    /// # Errors
    /// If the column `command` is not the stored form of a command.
    pub fn prepared(&self) -> Result<PreparedCommand, String> {
        let stored = self.command.0.as_deref().ok_or("it has no body")?;
        let command: PreparedCommand =
            serde_json::from_str(stored).map_err(|error| match error.classify() {
                // The message of the others may quote the body.
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

/// The stored form of a command, which is as confidential as the command.
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
    /// Whether the service had committed the command before, if it says so.
    pub replayed: Option<bool>,
    /// The exact body of the response.
    pub body: String,
}

impl StoredReceipt {
    /// The note about a receipt that came after the lease had ended.
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

/// How many commands an outbox holds.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Status {
    /// How many there are in each state, parked ones by reason. A state without commands is absent.
    pub counts: Vec<Count>,
    /// The oldest command that is still to be sent: new, ready, waiting or leased.
    pub oldest: Option<StoredCommand>,
}

/// How many commands are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The state.
    pub state: State,
    /// Why they are parked.
    pub reason: Option<String>,
    /// How many they are.
    pub commands: u64,
}

impl Status {
    /// How many commands are in this state.
    #[must_use]
    pub fn count(&self, state: State) -> u64 {
        let counts = self.counts.iter().filter(|it| it.state == state);
        counts.map(|it| it.commands).sum()
    }
}
