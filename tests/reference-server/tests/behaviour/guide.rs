//! The guide shows the example as it is tested.

use std::collections::BTreeSet;

use sdk_reference_server::ReferenceServer;

#[test]
fn the_guide_shows_the_example_letter_for_letter() {
    let guide = include_str!("../../docs/testing-your-service.md");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/example");
    for file in ["src/lib.rs", "tests/calls.rs"] {
        // A package has the guide and not the example, which is a crate of its own.
        if let Ok(example) = std::fs::read_to_string(format!("{folder}/{file}")) {
            assert!(
                guide.contains(&format!("```rust,ignore\n{example}```")),
                "{file}"
            );
        }
    }
}

#[test]
fn the_guide_names_every_assumption_of_this_server() {
    let guide = include_str!("../../docs/testing-your-service.md");
    let register = concat!(env!("CARGO_MANIFEST_DIR"), "/../../specs/ASSUMPTIONS.md");
    let Ok(register) = std::fs::read_to_string(register) else {
        return;
    };
    for entry in register
        .split("\n## ")
        .filter(|entry| entry.contains("\nScope: reference server"))
    {
        let id = entry.split(' ').next().unwrap();
        assert!(guide.contains(&format!("| {id} |")), "{id}");
    }
}

#[test]
fn the_guide_names_every_fault() {
    let guide = include_str!("../../docs/testing-your-service.md");
    let handle = include_str!("../../src/faults/handle.rs");
    let methods = handle
        .split("    pub fn ")
        .skip(1)
        .filter_map(|method| method.split_once('('))
        .filter(|(_, rest)| {
            let signature = rest.split('{').next().unwrap_or_default();
            rest.starts_with("self") && signature.contains("-> Fault")
        })
        .map(|(name, _)| name);
    for name in methods {
        let written = ["`", "."].map(|before| format!("{before}{name}("));
        assert!(written.iter().any(|call| guide.contains(call)), "{name}");
    }
}

/// The JSON of the guide's tables works, and has every member that there is.
#[test]
fn the_guide_shows_every_member_of_a_fault_in_json_that_works() {
    let server = ReferenceServer::in_memory();
    let guide = include_str!("../../docs/testing-your-service.md");
    let load = |when: &str, then: &str| {
        let fault = format!(r#"{{"faults": [{{"when": {when}, "then": {then}}}]}}"#);
        server
            .load_faults(&fault)
            .map_err(|error| error.to_string())
    };
    for (of, table) in [
        ("when", "| when | in JSON |"),
        ("then", "| effect | in JSON |"),
    ] {
        let rows = guide
            .split_once(table)
            .unwrap()
            .1
            .split("\n\n")
            .next()
            .unwrap();
        let shown = rows
            .lines()
            .skip(2)
            .map(|row| row.split(" | ").nth(1).unwrap().trim_matches('`'));
        let mut members = BTreeSet::new();
        for json in shown {
            let loaded = if of == "when" {
                load(json, r#"{"status": 503}"#)
            } else {
                load("{}", json)
            };
            loaded.unwrap_or_else(|error| panic!("{json}: {error}"));
            let json: serde_json::Value = serde_json::from_str(json).unwrap();
            members.extend(
                json.as_object()
                    .unwrap()
                    .keys()
                    .map(|name| format!("`{name}`")),
            );
        }
        let misspelt = r#"{"misspelt": 1}"#;
        let error = if of == "when" {
            load(misspelt, "{}")
        } else {
            load("{}", misspelt)
        }
        .unwrap_err();
        let known = error.split_once("expected one of ").unwrap().1;
        let known: BTreeSet<String> = known.split(", ").map(str::to_owned).collect();
        assert_eq!(members, known);
    }
}
