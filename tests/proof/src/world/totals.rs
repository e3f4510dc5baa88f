//! What worlds came to.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// How often each thing happened, by its name. The names of faults begin with `fault:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals(BTreeMap<&'static str, u64>);

impl Totals {
    /// How many there were, such as `requests` and `worlds`.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    pub(super) fn count(&mut self, name: &'static str) {
        *self.0.entry(name).or_default() += 1;
    }
}

impl AddAssign<&Self> for Totals {
    fn add_assign(&mut self, other: &Self) {
        for (name, more) in &other.0 {
            *self.0.entry(name).or_default() += more;
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.0.iter();
        lines.try_for_each(|(name, count)| writeln!(f, "{count:>12}  {name}"))
    }
}
