//! What a run has to say about a document: all of it at once, each finding with its place, the rule and the remedy.

use std::fmt;

/// What a finding means for the generated client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Weight {
    /// Nothing is generated before it is settled.
    Refused,
    /// A value is kept as raw JSON, because its schema says more than a type can.
    Raw,
    /// A name is another one than in the document.
    Renamed,
    /// It is documented, or left to the service, and nothing else.
    Noted,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) weight: Weight,
    /// A JSON pointer into the document.
    pub(crate) place: String,
    pub(crate) rule: String,
    /// What settles it; empty where nothing needs to be done.
    pub(crate) remedy: String,
}

/// All findings of a run, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Finding>,
    /// How often something was refused, repetitions included.
    pub(crate) refusals: usize,
}

impl Findings {
    /// Adds one, unless it is there already.
    pub(crate) fn add(
        &mut self,
        weight: Weight,
        place: &str,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.refusals += usize::from(weight == Weight::Refused);
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

    pub(crate) fn refuse(
        &mut self,
        place: &str,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Weight::Refused, place, rule, remedy);
    }

    pub(crate) fn note(&mut self, place: &str, rule: impl Into<String>) {
        self.add(Weight::Noted, place, rule, "");
    }

    /// Those of a weight.
    pub(crate) fn of(&self, weight: Weight) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(move |it| it.weight == weight)
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Finding] {
        &self.all
    }

    /// Refuses all.
    pub(crate) fn refuse_all(&mut self) {
        for it in &mut self.all {
            it.weight = Weight::Refused;
        }
    }

    /// All refusals as one error, if there are any.
    pub(crate) fn settled(&self) -> crate::Result<()> {
        let refused: Vec<String> = self.of(Weight::Refused).map(ToString::to_string).collect();
        crate::settled(&refused)
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
