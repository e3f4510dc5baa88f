//! Organizations.

use jiff::Timestamp;

use super::Text;
use super::names::{CITY, COMPANY, LEGAL_FORM, TRADE};
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};

#[derive(Clone, Debug)]
pub(crate) struct Organization {
    pub(crate) name: Text,
    pub(crate) city: Text,
    pub(crate) status: Text,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) version: u64,
}

impl Record for Organization {
    const KIND: Kind = Kind::Organization;
    const NOUN: &'static str = "organization";

    fn generate(world: &World, index: u64) -> Organization {
        let mut noise = Noise::new(world.seed, Stream::Organizations, index);
        let (company, trade) = (noise.pick(&COMPANY), noise.pick(&TRADE));
        let form = noise.pick(&LEGAL_FORM);
        let created_at = noise.minutes(world.start, -1_000_000, -200_000);
        Organization {
            name: format!("{company} {trade} {form}").into(),
            city: noise.pick(&CITY).into(),
            status: noise
                .weighted(&[("active", 85), ("inactive", 10), ("archived", 5)])
                .into(),
            created_at,
            updated_at: noise.minutes(world.start, -200_000, -60),
            version: 1 + noise.below(5),
        }
    }
}
