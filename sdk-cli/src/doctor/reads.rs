//! The reads, in the order of `reads.txt`. Some take a reference, a cursor or a path from earlier responses.

use sdk_core::{App, Method, Operation, RawTarget};

use super::facts::{Facts, records};
use crate::catalog;

const READS: &str = include_str!("reads.txt");

/// One request.
pub(crate) struct Read {
    pub(crate) name: &'static str,
    /// `None` for a path that no operation has.
    pub(crate) operation: Option<&'static Operation>,
    pub(crate) app: App,
    pub(crate) with_token: bool,
    /// The expected response. Any other response is a finding.
    pub(crate) expected: &'static str,
    target: &'static str,
    parameters: &'static str,
}

/// The responses that a read can expect.
const EXPECTED: &str = "documented, success, rejection, not allowed, published, any";

/// The steps with their reads.
pub(crate) fn steps() -> impl Iterator<Item = (&'static str, Vec<Read>)> {
    READS.split("\n= ").skip(1).map(|step| {
        let (name, lines) = step.split_once('\n').expect("a step has reads");
        let lines = lines.lines().filter(|line| !line.is_empty());
        let reads = lines.map(|line| Read::parse(line).expect("a line of four columns"));
        (name, reads.collect())
    })
}

impl Read {
    fn parse(line: &'static str) -> Option<Self> {
        let mut columns = line.split(" | ");
        let request = columns.next()?;
        let (target, parameters) = request.split_once('?').unwrap_or((request, ""));
        let with_token = columns.next()? == "yes";
        let expected = columns.next()?;
        let expected = EXPECTED.split(", ").find(|it| *it == expected)?;
        let (app, operation, target) = if let Some((app, _)) = target.split_once('/') {
            (app.parse().ok()?, None, &target[app.len()..])
        } else {
            let operation = operation(target);
            (operation.application, Some(operation), target)
        };
        Some(Self {
            name: columns.next().unwrap_or(target),
            operation,
            app,
            with_token,
            expected,
            target,
            parameters,
        })
    }

    /// Whether earlier responses leave a question that this read answers.
    pub(crate) fn is_needed(&self, facts: &Facts) -> bool {
        let got = |name, statuses: &[u16]| {
            let seen = facts.get(name);
            seen.is_some_and(|it| statuses.contains(&it.status))
        };
        match self.name {
            "all people" => facts
                .success("listPeople")
                .is_some_and(|page| page["nextCursor"] == ""),
            "openapiPath with a token" => got("openapiPath", &[401, 403]),
            "crm/people" => got("crm/person", &[404]),
            "crm/organizations" => got("crm/organization", &[404]),
            "accounting/counterparties" => got("accounting/counterparty", &[404]),
            _ => true,
        }
    }

    /// The operation or the path, if earlier responses name it.
    pub(crate) fn target(&self, facts: &Facts) -> Option<RawTarget> {
        match self.operation {
            Some(operation) => Some(operation.into()),
            None if self.target == "/{openapiPath}" => {
                let metadata = facts.metadata(App::Accounting)?;
                let path = metadata["openapiPath"].as_str()?;
                let is_plain = path.starts_with('/') && !path.contains(['?', '#', '%']);
                is_plain.then(|| (Method::Get, path).into())
            }
            None => Some((Method::Get, self.target).into()),
        }
    }

    /// The parameters of path and query, if earlier responses have their values.
    pub(crate) fn parameters(&self, facts: &Facts) -> Option<Vec<(&'static str, String)>> {
        let pairs = self.parameters.split('&');
        let pairs = pairs.filter_map(|pair| pair.split_once('='));
        pairs
            .map(|(name, value)| Some((name, resolve(value, facts)?)))
            .collect()
    }
}

/// An operation of the contract.
pub(crate) fn operation(id: &str) -> &'static Operation {
    let mut all = App::all().flat_map(catalog::operations).copied();
    all.find(|it| it.id == id).expect("the contract has it")
}

/// The value that a parameter stands for.
fn resolve(parameter: &str, facts: &Facts) -> Option<String> {
    let Some(name) = parameter.strip_prefix('{') else {
        return Some(parameter.to_owned());
    };
    match name.trim_end_matches('}') {
        "cursor" => opportunity_cursor(facts),
        list => {
            let page = facts.success(list)?;
            let reference = records(&page).first()?["publicReference"].as_str()?;
            Some(reference.to_owned())
        }
    }
}

/// The cursor of the second page of opportunities.
pub(crate) fn opportunity_cursor(facts: &Facts) -> Option<String> {
    let page = facts.success("listOpportunities")?;
    let cursor = page["nextCursor"].as_str().filter(|it| !it.is_empty());
    cursor.map(str::to_owned)
}
