//! The completions of shells. The other tests of the program are those of the workspace, in `tests/suite/programs`; this one has
//! `cargo test` build the program for them.

use std::process::Command;

#[test]
fn completions_know_the_operations_and_their_parameters() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let mut suite = Command::new(env!("CARGO_BIN_EXE_suite"));
        let output = suite.args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
        for word in ["doctor", "people.list", "sourceRecordId", "archived"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
