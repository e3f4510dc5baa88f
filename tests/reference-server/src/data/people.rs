//! People.

use jiff::Timestamp;

use super::Text;
use super::names::{FAMILY, GIVEN, JOB};
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};

#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) given: Text,
    pub(crate) family: Text,
    /// `None` means that the address is derived from the name.
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
            // The first person has the long timeline and serves as a sample.
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
        if self.family.is_empty() {
            return self.given.to_string();
        }
        [&*self.given, " ", &*self.family].concat()
    }

    pub(crate) fn email(&self, index: u64) -> String {
        if let Some(email) = &self.email {
            return email.clone();
        }
        let plain = |name: &str, email: &mut String| {
            let letters = name.bytes().filter(u8::is_ascii_alphabetic);
            email.extend(letters.map(|letter| char::from(letter.to_ascii_lowercase())));
        };
        let mut email = String::with_capacity(48);
        plain(&self.given, &mut email);
        email.push('.');
        plain(&self.family, &mut email);
        email.push_str(&index.to_string());
        email.push_str("@example.com");
        email
    }
}
