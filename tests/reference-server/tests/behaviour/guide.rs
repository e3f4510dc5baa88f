//! The guide shows the example as it is tested.

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
