//! People.

use jiff::Timestamp;

use super::Text;
use super::names::{FAMILY, GIVEN, JOB};
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};

/// A person, perhaps at an organization.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) given: Text,
    pub(crate) family: Text,
    /// `None`: derived from the name.
    pub(crate) email: Option<String>,
    pub(crate) job: Text,
    pub(crate) organization: Option<u64>,
    pub(crate) status: Text,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) version: u64,
}

impl Record for Person {
    const KIND: Kind = Kind::Person;
    const NOUN: &'static str = "person";

    fn generate(world: &World, index: u64) -> Person {
        let mut noise = Noise::new(world.seed, Stream::People, index);
        let organizations = world.sizes.organizations;
        let employed = noise.chance(90) && organizations > 0;
        Person {
            given: noise.pick(&GIVEN).into(),
            family: noise.pick(&FAMILY).into(),
            email: None,
            job: noise.pick(&JOB).into(),
            organization: employed.then(|| noise.below(organizations)),
            // The first person has the long timeline and is safe to use as a sample.
            status: if index == 0 {
                "active".into()
            } else {
                noise
                    .weighted(&[
                        ("active", 80),
                        ("inactive", 10),
                        ("suppressed", 5),
                        ("archived", 5),
                    ])
                    .into()
            },
            created_at: noise.minutes(world.start, -1_000_000, -200_000),
            updated_at: noise.minutes(world.start, -200_000, -60),
            version: 1 + noise.below(6),
        }
    }
}

impl Person {
    pub(crate) fn display_name(&self) -> String {
        let space = if self.family.is_empty() { "" } else { " " };
        format!("{}{space}{}", self.given, self.family)
    }

    /// The address, or one derived from the name.
    pub(crate) fn email(&self, index: u64) -> String {
        let plain = |name: &str| {
            let letters = name.chars().filter(char::is_ascii_alphabetic);
            letters.collect::<String>().to_ascii_lowercase()
        };
        self.email.clone().unwrap_or_else(|| {
            let (given, family) = (plain(&self.given), plain(&self.family));
            format!("{given}.{family}{index}@example.com")
        })
    }
}
