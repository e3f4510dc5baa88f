//! The guide matches the example, the assumptions and the faults of the server.

use std::collections::BTreeSet;

use sdk_reference_server::{Assumption, ReferenceServer};
use serde_json::{Map, Value};

const GUIDE: &str = include_str!("../../docs/testing-your-service.md");
const OTHER_LANGUAGES: &str = include_str!("../../docs/other-languages.md");

/// Reads a file of the repository. The published package doesn't contain it.
fn beside(path: &str) -> Option<String> {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).ok()
}

#[test]
fn the_guide_shows_the_example_letter_for_letter() {
    for file in ["src/lib.rs", "tests/calls.rs"] {
        if let Some(example) = beside(&format!("docs/example/{file}")) {
            let shown = format!("```rust,ignore\n{example}```");
            assert!(GUIDE.contains(&shown), "{file}");
        }
    }
}

#[test]
fn the_guide_names_every_assumption_of_this_server() {
    let register = beside("../../specs/ASSUMPTIONS.md").unwrap_or_default();
    for entry in register.split("\n## ") {
        let id = entry.split(' ').next().unwrap();
        let ours = entry.contains("\nScope: reference server");
        assert!(!ours || GUIDE.contains(&format!("| {id} |")), "{id}");
    }
}

#[test]
fn the_guide_lists_every_assumption_that_can_be_contradicted() {
    let source = include_str!("../../src/contradict/assumption.rs");
    for id in Assumption::all().map(Assumption::id) {
        let (_, row) = source.split_once(&format!("\n    {id} \"")).unwrap();
        let (behavior, _) = row.split_once("\"\n").unwrap();
        let row = format!("| {id} |{} |", behavior.replace("\\\"", "\""));
        assert!(GUIDE.contains(&row), "{row}");
    }
}

#[test]
fn the_guide_names_every_fault() {
    let handle = include_str!("../../src/faults/handle.rs");
    for method in handle.split("    pub fn ").skip(1) {
        let signature = method.split('{').next().unwrap_or_default();
        let (name, rest) = signature.split_once('(').unwrap();
        if rest.starts_with("self") && rest.contains("-> Fault") {
            let written = ["`", "."].map(|before| format!("{before}{name}("));
            assert!(written.iter().any(|call| GUIDE.contains(call)), "{name}");
        }
    }
}

/// The JSON in the guide's tables is valid, and the tables have every field.
#[test]
fn the_guide_shows_every_field_of_a_fault_in_json_that_works() {
    let server = ReferenceServer::in_memory();
    let when = r#"{"faults": [{"when": X, "then": {"status": 503}}]}"#;
    for (table, fault) in [
        ("| when |", when),
        ("| effect |", r#"{"faults": [{"then": X}]}"#),
    ] {
        let load = |json: &str| server.load_faults(&fault.replace('X', json));
        let rows = GUIDE.split_once(table).unwrap().1.split("\n\n").next();
        let mut shown = BTreeSet::new();
        for row in rows.unwrap().lines().skip(2) {
            let json = row.split(" | ").nth(1).unwrap().trim_matches('`');
            load(json).unwrap_or_else(|error| panic!("{json}: {error}"));
            let fields: Map<String, Value> = serde_json::from_str(json).unwrap();
            shown.extend(fields.keys().map(|name| format!("`{name}`")));
        }
        let error = load(r#"{"misspelt": 1}"#).unwrap_err().to_string();
        let (_, known) = error.split_once("expected one of ").unwrap();
        let known: BTreeSet<_> = known.split(", ").map(str::to_owned).collect();
        assert_eq!(shown, known);
        for field in known {
            assert!(OTHER_LANGUAGES.contains(&field), "{field}");
        }
    }
}
