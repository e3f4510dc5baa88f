//! Intake submissions: what came in and waits for somebody to look at it.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::Text;
use super::names::{COMPANY, FAMILY, GIVEN, NEED, TRADE};
use super::noise::Noise;
use super::reference::Kind;
use super::table::{Record, World};

/// The documented statuses of a submission; those of the list's filter are not shown and taken to be the same.
pub(crate) const STATUSES: [&str; 6] = [
    "received",
    "screening",
    "review_needed",
    "accepted",
    "dismissed",
    "failed",
];

/// At most so many reviews are kept, as documented.
pub(crate) const HISTORY_LIMIT: usize = 100;

/// A submission.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    pub(crate) given: Text,
    pub(crate) family: Text,
    pub(crate) company: String,
    pub(crate) subject: Text,
    pub(crate) status: Text,
    pub(crate) received_at: Timestamp,
    pub(crate) review: Option<Value>,
    pub(crate) history: Vec<Value>,
    pub(crate) version: u64,
}

impl Record for Intake {
    const KIND: Kind = Kind::Intake;

    fn generate(world: &World, index: u64) -> Intake {
        let mut noise = Noise::new(world.seed, 5, index);
        Intake {
            given: noise.pick(&GIVEN).into(),
            family: noise.pick(&FAMILY).into(),
            company: format!("{} {}", noise.pick(&COMPANY), noise.pick(&TRADE)),
            subject: noise.pick(&NEED).into(),
            status: noise
                .weighted(&[
                    ("received", 20),
                    ("screening", 15),
                    ("review_needed", 30),
                    ("accepted", 18),
                    ("dismissed", 12),
                    ("failed", 5),
                ])
                .into(),
            received_at: noise.minutes(-60_000, -30),
            review: None,
            history: Vec::new(),
            version: 1,
        }
    }
}

impl Intake {
    /// Whether nothing more will happen to it.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self.status.as_ref(), "accepted" | "dismissed" | "failed")
    }

    pub(crate) fn contact(&self) -> Value {
        json!({
            "displayName": format!("{} {}", self.given, self.family),
            "company": self.company,
        })
    }

    /// How it came to be where it is.
    pub(crate) fn processing_events(&self) -> Vec<Value> {
        let steps: &[&str] = match self.status.as_ref() {
            "received" => &["received"],
            "screening" => &["received", "screening"],
            "failed" => &["received", "failed"],
            _ => &["received", "screening", "review_needed"],
        };
        let at = |step: usize| {
            let minutes = i64::try_from(step).unwrap_or_default() * 7;
            self.received_at
                .checked_add(SignedDuration::from_mins(minutes))
                .unwrap_or(self.received_at)
        };
        steps
            .iter()
            .enumerate()
            .map(|(step, name)| json!({"event": name, "occurredAt": at(step).to_string()}))
            .collect()
    }
}
