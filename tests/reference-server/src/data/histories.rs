//! The stages that opportunities went through.

use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;

use super::Text;

/// How many finished stays are kept, the latest ones across all opportunities.
const KEPT: usize = 100_000;

/// A stage that an opportunity is in from `entered_at` until its next stay begins.
#[derive(Clone, Debug)]
pub(crate) struct Stay {
    pub(crate) stage: &'static str,
    pub(crate) entered_at: Timestamp,
    /// The reason for the move, if given.
    pub(crate) reason: Option<Text>,
}

/// The finished stays of opportunities that moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histories {
    over: HashMap<u64, VecDeque<Stay>>,
    /// Whose stays they are, in the order in which they ended.
    order: VecDeque<u64>,
}

impl Histories {
    pub(crate) fn add(&mut self, opportunity: u64, stay: Stay) {
        self.over.entry(opportunity).or_default().push_back(stay);
        self.order.push_back(opportunity);
        if self.order.len() <= KEPT {
            return;
        }
        if let Some(oldest) = self.order.pop_front()
            && let Some(stays) = self.over.get_mut(&oldest)
        {
            stays.pop_front();
            if stays.is_empty() {
                self.over.remove(&oldest);
            }
        }
    }

    /// The finished stays of an opportunity, oldest first.
    pub(crate) fn of(&self, opportunity: u64) -> impl Iterator<Item = &Stay> {
        self.over.get(&opportunity).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_stays_are_kept() {
        let mut histories = Histories::default();
        for second in 0..100_050 {
            let stay = Stay {
                stage: "new",
                entered_at: Timestamp::constant(second, 0),
                reason: None,
            };
            histories.add(if second < 10 { 7 } else { 8 }, stay);
        }
        assert_eq!(histories.over.len(), 1);
        let kept: Vec<_> = histories
            .of(8)
            .map(|stay| stay.entered_at.as_second())
            .collect();
        assert_eq!(kept, (50..100_050).collect::<Vec<_>>());
    }
}
