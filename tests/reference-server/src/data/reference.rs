//! Public references. An index is encoded as twelve random-looking digits and decoded without a table.

use super::noise::mix;

const BITS: u32 = 48;
const MASK: u64 = (1 << BITS) - 1;
const ODD: u64 = 0x0000_5DEE_CE66_D9AB | 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Intake,
    Person,
    Organization,
    Opportunity,
    Task,
    Actor,
    Activity,
    Event,
    Hold,
    Counterparty,
    InvoiceDraft,
    ImportRun,
    ApprovalIntent,
    Receipt,
    Workspace,
}

impl Kind {
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Kind::Intake => "IN-",
            Kind::Person => "PER-",
            Kind::Organization => "ORG-",
            Kind::Opportunity => "OP-",
            Kind::Task => "TSK-",
            Kind::Actor => "ACR-",
            Kind::Activity => "ACT-",
            Kind::Event => "EVT-",
            Kind::Hold => "HLD-",
            Kind::Counterparty => "FCP-",
            Kind::InvoiceDraft => "IVD-",
            Kind::ImportRun => "IMR-",
            Kind::ApprovalIntent => "APR-",
            Kind::Receipt => "RCP-",
            Kind::Workspace => "WSP-",
        }
    }
}

/// Encodes indexes as references and decodes them. Each seed gives other references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct References {
    seed: u64,
}

impl References {
    pub(crate) const fn new(seed: u64) -> References {
        References { seed }
    }

    pub(crate) fn name(self, kind: Kind, index: u64) -> String {
        format!("{}{:012X}", kind.prefix(), scramble(index, self.key(kind)))
    }

    /// Returns the index of a well-formed reference of this kind.
    pub(crate) fn index(self, kind: Kind, text: &str) -> Option<u64> {
        let digits = text.strip_prefix(kind.prefix())?;
        let value = u64::from_str_radix(digits, 16).ok()?;
        let is_usual = format!("{value:012X}") == digits;
        is_usual.then(|| unscramble(value, self.key(kind)))
    }

    fn key(self, kind: Kind) -> u64 {
        mix(self.seed ^ mix(kind as u64 + 1)) & MASK
    }
}

/// A bijection of 48-bit numbers: add a key, multiply by an odd number, and XOR the high half into the low half, twice.
fn scramble(index: u64, key: u64) -> u64 {
    let mut x = index & MASK;
    for _ in 0..2 {
        x = x.wrapping_add(key).wrapping_mul(ODD) & MASK;
        x ^= x >> (BITS / 2);
    }
    x
}

fn unscramble(value: u64, key: u64) -> u64 {
    let inverse = inverse_of_odd();
    let mut x = value;
    for _ in 0..2 {
        x ^= x >> (BITS / 2);
        x = (x.wrapping_mul(inverse) & MASK).wrapping_sub(key) & MASK;
    }
    x
}

/// Computes the inverse of `ODD` modulo 2^48 by Newton's iteration.
const fn inverse_of_odd() -> u64 {
    let mut inverse = ODD;
    let mut round = 0;
    while round < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(ODD.wrapping_mul(inverse)));
        round += 1;
    }
    inverse & MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_decodes_to_its_index() {
        let references = References::new(7);
        for index in [0, 1, 2, 299, 300, 1_000_000, MASK] {
            for kind in [Kind::Person, Kind::Counterparty, Kind::Opportunity] {
                let name = references.name(kind, index);
                assert_eq!(name.len(), kind.prefix().len() + 12, "{name}");
                assert_eq!(references.index(kind, &name), Some(index), "{name}");
            }
        }
    }

    #[test]
    fn a_malformed_reference_is_rejected() {
        for text in [
            "PER-",
            "PER-0123456789ab",
            "OP-0123456789AB",
            "PER-0123456789ABC",
            "",
        ] {
            assert_eq!(References::new(7).index(Kind::Person, text), None, "{text}");
        }
    }
}
