//! Financial counterparties.

use super::Text;
use super::names::{COMPANY, LEGAL_FORM, TRADE};
use super::noise::{Noise, Stream};
use super::reference::Kind;
use super::table::{Record, World};

pub(crate) const COUNT: u64 = 40;

#[derive(Clone, Debug)]
pub(crate) struct Counterparty {
    pub(crate) display_name: String,
    pub(crate) status: Text,
    pub(crate) currency: Text,
    pub(crate) version: u64,
}

impl Record for Counterparty {
    const KIND: Kind = Kind::Counterparty;
    const NOUN: &'static str = "counterparty";

    fn generate(world: &World, index: u64) -> Counterparty {
        let mut noise = Noise::new(world.seed, Stream::Counterparties, index);
        let (company, trade) = (noise.pick(&COMPANY), noise.pick(&TRADE));
        let form = noise.pick(&LEGAL_FORM);
        Counterparty {
            display_name: format!("{company} {trade} {form}"),
            // The last few are archived, so that the server can reject a draft for them.
            status: if index + 3 >= COUNT {
                "archived".into()
            } else {
                "active".into()
            },
            currency: "EUR".into(),
            version: 1 + noise.below(3),
        }
    }
}
