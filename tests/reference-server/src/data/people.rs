//! People.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::Text;
use super::names::{FAMILY, GIVEN, JOB};
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};

/// The documented statuses.
pub(crate) const STATUSES: [&str; 4] = ["active", "inactive", "suppressed", "archived"];

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
        let mut name = String::new();
        self.write_display_name(&mut name);
        name
    }

    pub(crate) fn write_display_name(&self, to: &mut String) {
        to.push_str(&self.given);
        if !self.family.is_empty() {
            to.push(' ');
            to.push_str(&self.family);
        }
    }

    pub(crate) fn email(&self, index: u64) -> String {
        let mut email = String::new();
        self.write_email(index, &mut email);
        email
    }

    /// The address, or one derived from the name.
    pub(crate) fn write_email(&self, index: u64, to: &mut String) {
        if let Some(email) = &self.email {
            return to.push_str(email);
        }
        let plain = |name: &'_ Text, to: &mut String| {
            let letters = name.bytes().filter(u8::is_ascii_alphabetic);
            to.extend(letters.map(|letter| char::from(letter.to_ascii_lowercase())));
        };
        plain(&self.given, to);
        to.push('.');
        plain(&self.family, to);
        let _ = write!(to, "{index}@example.com");
    }
}
