//! Which step follows which.

use std::collections::VecDeque;

use super::step::{self, Step};

/// The steps for requests, and those for token exchanges, in the order in which they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    steps: VecDeque<Step>,
    rest: Option<Step>,
    tokens: VecDeque<Step>,
    tokens_rest: Option<Step>,
    issued: u32,
}

/// A script of steps taken in order.
pub(crate) fn script(steps: impl IntoIterator<Item = Step>) -> Script {
    Script {
        steps: steps.into_iter().collect(),
        ..Script::default()
    }
}

/// A script that does the same with every request.
pub(crate) fn always(step: Step) -> Script {
    script([]).then_always(step)
}

impl<const N: usize> From<[Step; N]> for Script {
    fn from(steps: [Step; N]) -> Self {
        script(steps)
    }
}

impl Script {
    /// What happens with every request after the steps.
    pub(crate) fn then_always(mut self, step: Step) -> Self {
        self.rest = Some(step);
        self
    }

    /// What happens with the first token exchanges; later ones are answered with a token.
    pub(crate) fn tokens(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.tokens.extend(steps);
        self
    }

    /// What happens with every token exchange after those steps.
    pub(crate) fn tokens_always(mut self, step: Step) -> Self {
        self.tokens_rest = Some(step);
        self
    }

    /// The step for the next request. One that nobody wrote is an answer that no test expects.
    pub(super) fn next(&mut self) -> Step {
        self.steps
            .pop_front()
            .or_else(|| self.rest.clone())
            .unwrap_or_else(|| step::reply(404).body("the script has ended"))
    }

    /// The step for the next token exchange: tokens `t-1`, `t-2` and so on for 300 seconds.
    pub(super) fn next_token(&mut self) -> Step {
        if let Some(step) = self.tokens.pop_front().or_else(|| self.tokens_rest.clone()) {
            return step;
        }
        self.issued += 1;
        step::token(&format!("t-{}", self.issued))
    }
}
