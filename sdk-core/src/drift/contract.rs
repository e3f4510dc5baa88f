//! Compares an application's served contract with the contract that this SDK was built for.

use std::cmp::Ordering;
use std::fmt;

use crate::app::App;
use crate::call::Call;
use crate::client::ApiClient;
use crate::error::Error;
use crate::json::members::Members;
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::operation::{Application, Operation};
use crate::options::SchemaPolicy;
use crate::secret::redactor::Redactor;
use crate::text::TextKind;

/// The relation between the served contract and the contract that this SDK was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContractMatch {
    /// The versions are equal.
    Same,
    /// The served version is later and compatible by semantic versioning. It only adds fields and values, which are
    /// preserved.
    Newer,
    /// The served version is earlier and compatible. It may lack operations or fields that this SDK knows.
    Older,
    /// The served version has a different major version (before 1.0, a different minor version) or cannot be compared.
    /// Expect errors.
    Incompatible,
    /// The application has no metadata, or its metadata has no version.
    Unknown,
}

/// A comparison of the served contract with the contract that this SDK was built for. `Display` prints a summary for a
/// start-up log. The guide describes [other contract changes](crate::guide::versions) and how to detect them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContractReport {
    /// The application.
    pub application: App,
    /// The version of the contract that this SDK was built for.
    pub built_for: &'static str,
    /// The version that the application serves, as one line, if its metadata contains a version.
    pub served: Option<String>,
    /// The relation between the two versions.
    pub matches: ContractMatch,
    /// The status of the service as one line, such as `preview`, if its metadata contains a status.
    pub status: Option<String>,
    /// Everything that differs or cannot be compared, in one sentence each. Empty if everything is as expected.
    pub findings: Vec<String>,
    /// The metadata as received. `None` if the contract documents no metadata.
    pub metadata: Option<RawJson>,
}

impl ContractReport {
    /// Whether everything that could be compared is as expected.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for ContractReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let served = self.served.as_deref().unwrap_or("unknown");
        write!(
            f,
            "{}: built for contract {}, served {served}",
            self.application, self.built_for
        )?;
        if let Some(status) = &self.status {
            write!(f, " ({status})")?;
        }
        for finding in &self.findings {
            write!(f, "\n  - {finding}")?;
        }
        Ok(())
    }
}

impl ApiClient {
    /// Compares the contract that the application serves with the contract that this SDK was built for.
    ///
    /// # Errors
    /// If the metadata cannot be read.
    pub async fn check_contract(&self) -> Result<ContractReport, Error> {
        let application = self.application();
        match application.metadata {
            None => Ok(without_metadata(application)),
            Some(operation) => {
                let request = self.endpoint().get(operation.route);
                let mut call = Call::new(self, operation);
                // The report itself covers an unexpected schema version.
                call.change(|options| options.with_schema_policy(SchemaPolicy::Warn));
                let metadata = call.send::<RawJson>(Ok(request)).await?.into_inner();
                let mut redactor = Redactor::default();
                self.suite().add_secrets_to(&mut redactor);
                self.defaults().add_secrets_to(&mut redactor);
                Ok(compare(application, operation, metadata, &redactor))
            }
        }
    }
}

fn without_metadata(application: &'static Application) -> ContractReport {
    ContractReport {
        application: application.app,
        built_for: application.contract_version,
        served: None,
        matches: ContractMatch::Unknown,
        status: None,
        findings: vec![
            "the contract documents no metadata for this application: nothing can be compared"
                .to_owned(),
        ],
        metadata: None,
    }
}

fn compare(
    application: &'static Application,
    operation: &'static Operation,
    metadata: RawJson,
    redactor: &Redactor,
) -> ContractReport {
    let redact = |text: String| redactor.line(TextKind::Message, &text);
    let record = Record::from(metadata);
    // Accounting's fields are documented. The CRM presumably uses the same names (assumption A46).
    let served = record
        .text("version")
        .or_else(|| record.text("contractVersion"));
    let status = record.text("status");
    let built_for = application.contract_version;
    let matches = served
        .as_deref()
        .map_or(ContractMatch::Unknown, |served| relate(built_for, served));
    let (served, status) = (served.map(redact), status.map(redact));
    let version = served.as_deref().unwrap_or_default();
    let mut findings = match matches {
        ContractMatch::Unknown => vec![format!("{} states no version", operation.route)],
        _ => describe_match(matches, version, built_for)
            .into_iter()
            .collect(),
    };
    findings.extend(
        status
            .as_deref()
            .and_then(|it| describe_status(application, it)),
    );
    if let Ok(members) = record.members() {
        let differing = differences(application, operation.route, &members);
        findings.extend(differing.into_iter().map(redact));
    }
    ContractReport {
        application: application.app,
        built_for,
        served,
        matches,
        status,
        findings,
        metadata: Some(record.into_raw()),
    }
}

/// Describes the consequences of another version. `None` if the versions are equal or unknown.
fn describe_match(matches: ContractMatch, version: &str, built_for: &str) -> Option<String> {
    let serves = format!("the application serves {version}");
    Some(match matches {
        ContractMatch::Same | ContractMatch::Unknown => return None,
        ContractMatch::Newer => {
            format!("{serves}, later than {built_for}: new fields and values are preserved")
        }
        ContractMatch::Older => {
            format!("{serves}, earlier than {built_for}: operations or fields may be missing")
        }
        ContractMatch::Incompatible if numbers(version).is_none() => {
            format!("{serves}, which cannot be compared with {built_for}: expect errors")
        }
        ContractMatch::Incompatible => format!(
            "{serves}, which is not compatible with {built_for}: expect errors, and update the SDK"
        ),
    })
}

fn describe_status(application: &Application, status: &str) -> Option<String> {
    let documented = application.statuses;
    (!documented.contains(&status)).then(|| {
        let documented = documented.join(" or ");
        format!("its status is {status}, but was {documented} when this SDK was built")
    })
}

fn differences(application: &Application, route: &str, members: &Members) -> Vec<String> {
    let mut findings = Vec::new();
    let documented = application.metadata_members;
    for (name, constant) in documented {
        match (members.get(name), constant) {
            (None, _) => findings.push(format!("{route} lacks the field {name}")),
            (Some(found), Some(expected)) => {
                let text: Option<String> = found.decode_silently();
                if text.as_deref() != Some(expected) {
                    let found = text.as_deref().unwrap_or(found.as_str());
                    findings.push(format!("{route} has {name} {found}, expected {expected}"));
                }
            }
            // None of the documented fields may be null.
            (Some(found), None) if found.is_null() => {
                findings.push(format!("{route} has {name} null"));
            }
            (Some(_), None) => {}
        }
    }
    let new: Vec<&str> = members
        .iter()
        .map(|(name, _)| name)
        .filter(|name| documented.iter().all(|(known, _)| known != name))
        .collect();
    if !documented.is_empty() && !new.is_empty() {
        findings.push(format!(
            "{route} has fields that this SDK does not know: {}",
            new.join(", ")
        ));
    }
    findings
}

/// Compares `major.minor.patch` by semantic versioning, and anything else for equality only (assumption A46).
fn relate(built_for: &str, served: &str) -> ContractMatch {
    if built_for == served {
        return ContractMatch::Same;
    }
    let (Some(ours), Some(theirs)) = (numbers(built_for), numbers(served)) else {
        return ContractMatch::Incompatible;
    };
    // Before 1.0, the minor version decides about compatibility.
    let compatible = if ours[0] == 0 { 2 } else { 1 };
    if ours[..compatible] != theirs[..compatible] {
        return ContractMatch::Incompatible;
    }
    match theirs.cmp(&ours) {
        Ordering::Less => ContractMatch::Older,
        Ordering::Equal => ContractMatch::Same,
        Ordering::Greater => ContractMatch::Newer,
    }
}

/// The numbers of a version. A missing number is zero.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    for (index, part) in version.split('.').enumerate() {
        *numbers.get_mut(index)? = part.parse().ok()?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::{ContractMatch, relate};

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (served, expected) in [
            ("3.0.0", ContractMatch::Same),
            ("3.10.0", ContractMatch::Newer),
            ("3.0.1", ContractMatch::Newer),
            ("4.0.0", ContractMatch::Incompatible),
            ("3.0", ContractMatch::Same),
            ("3.1", ContractMatch::Newer),
            ("3.0.0.1", ContractMatch::Incompatible),
            ("3.0.0-rc.1", ContractMatch::Incompatible),
            ("next", ContractMatch::Incompatible),
        ] {
            assert_eq!(relate("3.0.0", served), expected, "{served}");
        }
        for (served, expected) in [
            ("0.1.2", ContractMatch::Newer),
            ("0.1.0", ContractMatch::Older),
            ("0.2.0", ContractMatch::Incompatible),
            ("1.1.1", ContractMatch::Incompatible),
        ] {
            assert_eq!(relate("0.1.1", served), expected, "{served}");
        }
        assert_eq!(relate("3.2.0", "3.1.9"), ContractMatch::Older);
    }
}
