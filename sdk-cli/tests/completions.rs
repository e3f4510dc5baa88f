//! Tests shell completions. The other tests of the program are in `tests/suite/programs`. This test also makes
//! `cargo test` build the program for them.

use std::process::Command;

#[test]
fn completions_know_the_operations_and_their_parameters() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let mut suite = Command::new(env!("CARGO_BIN_EXE_suite"));
        let output = suite.args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
        let mut words = vec!["doctor", "people.list", "sourceRecordId"];
        // These also complete the values of an option.
        words.extend(
            ["bash", "fish", "zsh"]
                .contains(&shell)
                .then_some("archived"),
        );
        for word in words {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
