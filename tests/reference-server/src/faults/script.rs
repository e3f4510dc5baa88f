//! Faults as JSON, for use without Rust: `{"faults": [{"operation", "when", "then"}, …]}`.

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use super::effects::{Effects, given};
use super::rule::Rule;
use super::schedule::Schedule;
use crate::adapters::Transport;

/// Why a fault file was rejected: which fault, and what is wrong with it.
#[derive(Debug)]
pub struct InvalidFaults(String);

impl fmt::Display for InvalidFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidFaults {}

/// One fault as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// Its `operationId`; every operation if it is left out.
    #[serde(default)]
    operation: Option<String>,
    #[serde(default)]
    when: Schedule,
    then: Effects,
}

/// Reads `{"faults": [...]}`; one invalid fault rejects the whole file.
pub(super) fn read(
    json: &[u8],
    transport: Transport,
    known: impl Fn(&str) -> bool,
) -> Result<Vec<Rule>, InvalidFaults> {
    let invalid = |problem: &dyn fmt::Display| InvalidFaults(problem.to_string());
    let body: Value = serde_json::from_slice(json).map_err(|error| invalid(&error))?;
    let members = body.as_object().filter(|members| members.len() == 1);
    let faults = members
        .and_then(|members| members.get("faults")?.as_array())
        .ok_or_else(|| invalid(&"must be an object with one member, the array `faults`"))?;
    let number_from_one = faults.iter().zip(1..);
    number_from_one
        .map(|(fault, number)| {
            if let Some(place) = array(fault) {
                let problem = format!("fault {number}: {place} must be an object");
                return Err(InvalidFaults(problem));
            }
            let script = Script::deserialize(fault)
                .map_err(|error| format!("fault {number}: {error}"))
                .map_err(InvalidFaults)?;
            script
                .into_rule(transport, &known)
                .map_err(|problem| InvalidFaults(format!("fault {number}: {problem}")))
        })
        .collect()
}

/// Where an array stands in place of an object: a struct would take its members from it, one after the other.
fn array(fault: &Value) -> Option<&'static str> {
    let places = [
        "",
        "/when",
        "/then",
        "/when/header",
        "/when/member",
        "/then/body",
        "/then/dripBody",
    ];
    let is_array = |place: &&str| fault.pointer(place).is_some_and(Value::is_array);
    places
        .into_iter()
        .find(is_array)
        .map(|place| if place.is_empty() { "it" } else { place })
}

/// A fault as JSON, as it was read or as the builder made it.
pub(super) fn write(rule: &Rule) -> Value {
    json!({"operation": rule.operation, "when": given(&rule.when), "then": given(&rule.then)})
}

impl Script {
    fn into_rule(self, transport: Transport, known: impl Fn(&str) -> bool) -> Result<Rule, String> {
        let operation = self.operation;
        if let Some(id) = operation.as_deref().filter(|id| !known(id)) {
            return Err(format!("unknown operation {id:?}"));
        }
        check_schedule(&self.when)?;
        check_effects(&self.then)?;
        let elsewhere = operation.as_deref().is_some_and(|id| id != "exchangeToken");
        if self.then.shapes_tokens() && elsewhere {
            return Err("token effects apply to exchangeToken only".to_owned());
        }
        let mut rule = Rule::new(operation);
        rule.when = self.when;
        rule.then = self.then;
        rule.check(transport)?;
        rule.begin_rounds();
        Ok(rule)
    }
}

fn check_schedule(when: &Schedule) -> Result<(), String> {
    if when.every == Some(0) {
        return Err("when.every: must be at least 1".to_owned());
    }
    if when
        .probability
        .is_some_and(|chance| !(0.0..=1.0).contains(&chance))
    {
        return Err("when.probability: must be a number from 0 to 1".to_owned());
    }
    Ok(())
}

fn check_effects(then: &Effects) -> Result<(), String> {
    if then.is_empty() {
        return Err("then: has no effect".to_owned());
    }
    then.check().map_err(|problem| format!("then.{problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(id: &str) -> bool {
        crate::generated::operations::Operation::named(id).is_some()
    }

    fn problem(json: &str) -> String {
        read(json.as_bytes(), Transport::Wiremock, known)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn what_is_read_is_written_again() {
        let fault = r#"{"operation":"listPeople","when":{"skip":1,"times":2,"probability":0.5,"seed":7},
            "then":{"status":503,"retryAfter":1,"delaySeconds":0.25,"headers":{"x-a":"b"},"cursorLoop":3}}"#;
        let json = format!(r#"{{"faults":[{fault}]}}"#);
        let rules = read(json.as_bytes(), Transport::Wiremock, known).unwrap();
        let mut expected: Value = serde_json::from_str(fault).unwrap();
        expected["then"]["retryAfter"] = "1".into();
        assert_eq!(write(&rules[0]), expected);
        let summary = crate::faults::effects::summary(&rules[0].then);
        assert!(
            summary.contains("status=503") && summary.contains("delaySeconds=0.25"),
            "{summary}"
        );
    }

    #[test]
    fn a_mistake_is_named() {
        for (json, part) in [
            ("[]", "`faults`"),
            (r#"{"faults":[],"more":1}"#, "`faults`"),
            (
                r#"{"faults":[{"then":{"stauts":503}}]}"#,
                "fault 1: unknown field `stauts`",
            ),
            (r#"{"faults":[{"then":{}}]}"#, "no effect"),
            (r#"{"faults":[{"then":{"status":99}}]}"#, "99"),
            (
                r#"{"faults":[{"operation":"x","then":{"status":503}}]}"#,
                "\"x\"",
            ),
            (
                r#"{"faults":[{"then":{"breakBody":true}}]}"#,
                "Transport::Hyper",
            ),
            (
                r#"{"faults":[{"then":{"refuseConnection":true}}]}"#,
                "in memory",
            ),
            (r#"{"faults":[{"then":{"delaySeconds":-1}}]}"#, "-1"),
            (
                r#"{"faults":[{"when":{"every":0},"then":{"status":503}}]}"#,
                "every",
            ),
            (
                r#"{"faults":[{"when":{"probability":2},"then":{"status":503}}]}"#,
                "probability",
            ),
            (
                r#"{"faults":[{"when":{"path":""},"then":{"status":503}}]}"#,
                "when.path",
            ),
            (
                r#"{"faults":[{"when":{"header":{"name":"a b"}},"then":{"status":503}}]}"#,
                "a b",
            ),
            (
                r#"{"faults":[{"when":{"member":{"pointer":"a"}},"then":{"status":503}}]}"#,
                "slash",
            ),
            (
                r#"{"faults":[{"operation":"getToday","then":{"tokenLifetimeSeconds":1}}]}"#,
                "exchangeToken",
            ),
        ] {
            let problem = problem(json);
            assert!(problem.contains(part), "{json}: {problem}");
        }
    }
}
