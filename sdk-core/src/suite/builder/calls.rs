//! The calls of the builder that are about the transport, which must not contradict each other.

use crate::error::Error;

/// Names of calls: a call that has no effect is a mistake, and is never ignored in silence.
#[derive(Debug, Default)]
pub(super) struct Calls {
    choices: Vec<&'static str>,
    settings: Vec<&'static str>,
}

impl Calls {
    /// Notes a call that chose the transport.
    pub(super) fn choice(&mut self, call: &'static str) {
        if !self.choices.contains(&call) {
            self.choices.push(call);
        }
    }

    /// Notes a call that set something that only a transport of the suite's own heeds.
    pub(super) fn setting(&mut self, call: &'static str) {
        if !self.settings.contains(&call) {
            self.settings.push(call);
        }
    }

    /// The error of calls that exclude each other. `heeds` tells whether the settings have an effect.
    pub(super) fn contradiction(&self, heeds: bool) -> Option<Error> {
        let choice = self.choices.first()?;
        let (others, why) = if self.choices.len() > 1 {
            (&self.choices[1..], "each chooses the transport")
        } else if !self.settings.is_empty() && !heeds {
            let why = "it can only be set where the connections are made";
            (&self.settings[..], why)
        } else {
            return None;
        };
        Some(Error::configuration(format!(
            "`{}` must not be called together with `{choice}`: {why}",
            others.join("`, `")
        )))
    }
}
