//! What a program puts out arrives, or the program says that it did not.

use std::fs::File;
use std::process::Output;

use super::command;
use crate::programs::{Folder, told};

/// Each example, as short as it can be.
const LINES: [&str; 11] = [
    "doctor",
    "drift",
    "export people --out -",
    "funnel --out -",
    "metrics",
    "observe",
    "outbox --kill-at 1",
    "rotation",
    "token_source",
    "tour",
    "walk_million 100",
];

/// A pipe whose reader has seen enough.
fn closed() -> std::io::PipeWriter {
    std::io::pipe().unwrap().1
}

fn quietly(line: &str, output: &Output) {
    let said = told(output);
    assert_eq!(output.status.code(), Some(0), "{line}: {said}");
    assert!(!said.contains("panicked"), "{line}: {said}");
}

#[cfg(target_os = "linux")]
#[test]
fn fault_84_what_standard_output_loses_is_an_error() {
    let folder = Folder::new("output-full");
    for line in LINES {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command(Vec::new(), &folder, line).stdout(full).output();
        let output = output.unwrap();
        let said = told(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(
            said.contains("standard output: No space left on device"),
            "{line}: {said}"
        );
    }
}

#[test]
fn fault_84_a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new("output-closed");
    for line in LINES {
        let output = command(Vec::new(), &folder, line).stdout(closed()).output();
        quietly(line, &output.unwrap());
    }
}

#[test]
fn fault_84_nobody_has_to_hear_what_is_said_to_people() {
    let folder = Folder::new("output-deaf");
    for line in [
        "export people --out a.csv",
        "export people --out a.csv --restart",
        "funnel --out a.svg",
        "tour",
    ] {
        let mut command = command(Vec::new(), &folder, line);
        let output = command.stdout(closed()).stderr(closed()).output();
        quietly(line, &output.unwrap());
    }
    assert_eq!(folder.names(), ["a.csv", "a.svg"]);
}
