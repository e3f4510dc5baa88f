//! The laws. Each file says which it holds; none knows how the suites work inside.

pub(crate) mod calls;
pub(crate) mod commands;
pub(crate) mod effects;
pub(crate) mod pace;
pub(crate) mod places;
pub(crate) mod progress;
pub(crate) mod secrets;
pub(crate) mod stored;
pub(crate) mod tokens;
pub(crate) mod walks;

use crate::Violation;
use crate::event::Micros;

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
