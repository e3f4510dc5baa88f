//! The laws. Each file says which it holds; none knows how the suites work inside.

mod calls;
mod commands;
mod pace;
mod progress;
mod stored;
mod tokens;
mod walks;

use crate::Violation;
use crate::event::Micros;
use crate::facts::Facts;

/// The laws of each file.
pub(crate) const ALL: [fn(&Facts<'_>, &mut Found); 7] = [
    calls::hold,
    commands::hold,
    pace::hold,
    tokens::hold,
    walks::hold,
    progress::hold,
    stored::hold,
];

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Found(pub(crate) Vec<Violation>);

impl Found {
    /// Notes a violation of a law unless it was kept.
    pub(crate) fn hold(
        &mut self,
        law: &'static str,
        at: Micros,
        kept: bool,
        what: impl FnOnce() -> String,
    ) {
        if !kept {
            let what = what();
            self.0.push(Violation { law, at, what });
        }
    }
}
