//! Intake submissions: inquiries that wait for a review.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::names::{COMPANY, FAMILY, GIVEN, NEED, TRADE};
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};
use super::{Sizes, Text};

/// The documented maximum length of the review history.
pub(crate) const HISTORY_LIMIT: usize = 100;

/// The records that an accepted submission created, by index.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Linked {
    pub(crate) person: Option<u64>,
    pub(crate) organization: Option<u64>,
    pub(crate) opportunity: Option<u64>,
}

impl Linked {
    /// Picks records of the demo data for a submission that was accepted before the start.
    fn among(sizes: &Sizes, noise: &mut Noise) -> Linked {
        let mut pick = |size: u64| (size > 0).then(|| noise.below(size));
        Linked {
            person: pick(sizes.people),
            organization: pick(sizes.organizations),
            opportunity: pick(sizes.opportunities),
        }
    }
}

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
    pub(crate) linked: Linked,
    pub(crate) version: u64,
}

impl Record for Intake {
    const KIND: Kind = Kind::Intake;
    const NOUN: &'static str = "intake submission";

    fn generate(world: &World, index: u64) -> Intake {
        let mut noise = Noise::new(world.seed, Stream::Intake, index);
        let mut row = Intake {
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
            received_at: noise.minutes(world.start, -60_000, -30),
            review: None,
            history: Vec::new(),
            linked: Linked::default(),
            version: 1,
        };
        if row.status == "accepted" {
            row.linked = Linked::among(&world.sizes, &mut noise);
        }
        row
    }
}

impl Intake {
    pub(crate) fn is_final(&self) -> bool {
        matches!(self.status.as_ref(), "accepted" | "dismissed" | "failed")
    }

    pub(crate) fn contact(&self) -> Value {
        let name = format!("{} {}", self.given, self.family);
        json!({"displayName": name, "company": self.company})
    }

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
