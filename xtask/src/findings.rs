//! The findings of a run about a document, each with its place, rule and remedy. A run reports all of them together.

use std::fmt;

/// The consequence of a finding for the generated client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Weight {
    /// Nothing is generated until the finding is resolved.
    Rejected,
    /// The value is raw JSON, because no Rust type can express its schema.
    Raw,
    /// A name differs from the document.
    Renamed,
    /// The rule is only documented, or only the server checks it.
    Noted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) weight: Weight,
    /// A JSON pointer into the document.
    pub(crate) place: String,
    pub(crate) rule: String,
    /// The change that resolves it. Empty if there is nothing to do.
    pub(crate) remedy: String,
}

/// All findings of a run, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Finding>,
    /// The number of rejections, including repeated ones.
    pub(crate) rejections: usize,
}

impl Findings {
    /// Adds a finding, unless it is a duplicate.
    pub(crate) fn add(
        &mut self,
        weight: Weight,
        place: &str,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.rejections += usize::from(weight == Weight::Rejected);
        let finding = Finding {
            weight,
            place: place.to_owned(),
            rule: rule.into(),
            remedy: remedy.into(),
        };
        if !self.all.contains(&finding) {
            self.all.push(finding);
        }
    }

    pub(crate) fn reject(
        &mut self,
        place: &str,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Weight::Rejected, place, rule, remedy);
    }

    pub(crate) fn note(&mut self, place: &str, rule: impl Into<String>) {
        self.add(Weight::Noted, place, rule, "");
    }

    pub(crate) fn of(&self, weight: Weight) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(move |it| it.weight == weight)
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Finding] {
        &self.all
    }

    pub(crate) fn reject_all(&mut self) {
        for it in &mut self.all {
            it.weight = Weight::Rejected;
        }
    }

    /// Fails with all rejections, if there are any.
    pub(crate) fn settled(&self) -> crate::Result<()> {
        let rejected: Vec<String> = self.of(Weight::Rejected).map(ToString::to_string).collect();
        crate::settled(&rejected)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.rule)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}
