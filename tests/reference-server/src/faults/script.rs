//! Fault files, for use without Rust: `{"faults": [{"operation", "when", "then"}, …]}`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::rule::{Rule, non_default};
use crate::suite::Suite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    // Raw, because the position in the file gives the line where a fault begins.
    #[serde(borrow)]
    faults: Vec<&'a RawValue>,
}

/// One invalid fault rejects the whole file. For each invalid fault, the error names the line, the fault's number, the
/// field, the rule and the value.
pub(super) fn read(json: &[u8], suite: &Suite) -> Result<Vec<Rule>, String> {
    if json.trim_ascii_start().starts_with(b"[") {
        let rule = "must be an object with a `faults` field: got an array";
        return Err(rule.to_owned());
    }
    // The error names line and column.
    let file: File<'_> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let mut rules = Vec::new();
    let mut problems = Vec::new();
    for (fault, number) in file.faults.into_iter().zip(1..) {
        match rule(fault, suite) {
            Ok(rule) => rules.push(rule),
            Err(problem) => {
                let before = fault.get().as_ptr().addr() - json.as_ptr().addr();
                let line = json[..before].split(|byte| *byte == b'\n').count();
                problems.push(format!("line {line}: fault {number}: {problem}"));
            }
        }
    }
    if problems.is_empty() {
        return Ok(rules);
    }
    Err(problems.join("\n"))
}

fn rule(fault: &RawValue, suite: &Suite) -> Result<Rule, String> {
    let fault: Value = serde_json::from_str(fault.get()).map_err(|error| error.to_string())?;
    if let Some(place) = array(&fault) {
        let field = place.trim_start_matches('/').replace('/', ".");
        let problem = format!("{field}: must be an object: got an array");
        return Err(problem.trim_start_matches(": ").to_owned());
    }
    let rule: Rule = serde_path_to_error::deserialize(&fault).map_err(|error| error.to_string())?;
    if rule.then.is_empty() {
        let got = Value::Object(non_default(&rule.then));
        return Err(format!("then: must have an effect: got {got}"));
    }
    rule.check(suite)?;
    Ok(rule)
}

/// Returns the place of an array where an object must be. serde would accept it as a struct with fields in order.
fn array(fault: &Value) -> Option<&'static str> {
    let objects = [
        "",
        "/when",
        "/then",
        "/when/header",
        "/when/member",
        "/then/body",
        "/then/dripBody",
    ];
    let is_array = |place: &&str| fault.pointer(place).is_some_and(Value::is_array);
    objects.into_iter().find(is_array)
}
