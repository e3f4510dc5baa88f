//! Opportunities: the commercial pipeline.

use jiff::Timestamp;

use super::names::NEED;
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};
use super::{Text, actors};

/// The documented stages, in the order of the pipeline.
pub(crate) const STAGES: [&str; 9] = [
    "new",
    "review_needed",
    "exploring",
    "qualified",
    "solution_shaping",
    "proposal_or_decision",
    "won",
    "deferred",
    "closed_not_proceeding",
];

/// The number of open stages.
pub(crate) const OPEN_STAGES: usize = 6;

pub(crate) fn stage(name: &str) -> Option<&'static str> {
    STAGES.into_iter().find(|stage| *stage == name)
}

pub(crate) fn is_open(stage: &str) -> bool {
    STAGES[..OPEN_STAGES].contains(&stage)
}

pub(crate) const CLOSE_REASONS: [&str; 4] = ["budget", "competitor", "no_reply", "timing"];

/// A stage that an opportunity is in, from `entered_at` until the next stay.
#[derive(Clone, Debug)]
pub(crate) struct Stay {
    pub(crate) stage: &'static str,
    pub(crate) entered_at: Timestamp,
    pub(crate) reason: Option<Text>,
}

#[derive(Clone, Debug)]
pub(crate) struct Opportunity {
    pub(crate) title: Text,
    pub(crate) stage: &'static str,
    /// The previous stay in the demo data. Later stays are in the history.
    pub(crate) before: Option<Stay>,
    pub(crate) entered_stage_at: Timestamp,
    pub(crate) close_reason: Option<Text>,
    pub(crate) organization: Option<u64>,
    pub(crate) person: Option<u64>,
    pub(crate) owner: Option<u64>,
    pub(crate) value_min_minor: i64,
    pub(crate) value_max_minor: i64,
    pub(crate) currency: Text,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) version: u64,
}

impl Record for Opportunity {
    const KIND: Kind = Kind::Opportunity;
    const NOUN: &'static str = "opportunity";

    fn generate(world: &World, index: u64) -> Opportunity {
        let mut noise = Noise::new(world.seed, Stream::Opportunities, index);
        let place = noise.weighted(&[
            (0_usize, 16),
            (1, 8),
            (2, 18),
            (3, 14),
            (4, 10),
            (5, 10),
            (6, 10),
            (7, 6),
            (8, 8),
        ]);
        let created_at = noise.minutes(world.start, -260_000, -50_000);
        let entered_stage_at = noise.minutes(world.start, -50_000, -120);
        let value_min_minor = i64::try_from(noise.below(90) + 5).unwrap_or(5) * 100_000;
        let sizes = &world.sizes;
        Opportunity {
            title: noise.pick(&NEED).into(),
            stage: STAGES[place],
            before: (place > 0).then(|| Stay {
                stage: STAGES[(place - 1).min(OPEN_STAGES - 1)],
                entered_at: created_at,
                reason: None,
            }),
            entered_stage_at: if place == 0 {
                created_at
            } else {
                entered_stage_at
            },
            close_reason: (place == 8).then(|| noise.pick(&CLOSE_REASONS).into()),
            organization: (sizes.organizations > 0).then(|| noise.below(sizes.organizations)),
            person: (sizes.people > 0).then(|| noise.below(sizes.people)),
            owner: noise.chance(80).then(|| noise.below(actors::COUNT)),
            value_min_minor,
            value_max_minor: value_min_minor * 2,
            currency: "EUR".into(),
            created_at,
            updated_at: entered_stage_at,
            version: 1 + noise.below(8),
        }
    }
}

impl Opportunity {
    pub(crate) fn is_open(&self) -> bool {
        is_open(self.stage)
    }

    pub(crate) fn stay(&self) -> Stay {
        Stay {
            stage: self.stage,
            entered_at: self.entered_stage_at,
            reason: self.close_reason.clone(),
        }
    }
}
