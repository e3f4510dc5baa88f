//! The table of faults and the tests that carry its numbers are in step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("FAULTS.md");

/// Where tests of rows may stand.
const FOLDERS: [&str; 4] = ["tests", "sdk-core/src", "xtask/src", "examples"];

/// What the tests of rows on connections do to them.
const BREAKS: &str = ".break_after( .close_on_reuse( .cut_at( .cut_short( .dripped( .slow_headers( \
                      .unended( reset( stall(";

/// A test of a row.
struct Test {
    row: u32,
    /// Its file, relative to the repository.
    file: String,
    /// Whether it runs over HTTP/1.1 and over HTTP/2.
    over: [bool; 2],
    is_on_connections: bool,
}

impl Test {
    /// A test from its number on.
    fn read(code: &str, file: &str) -> Option<Self> {
        let (row, rest) = code.split_once('_')?;
        let (name, body) = rest.split_once('(')?;
        let is_of_both = body.trim_start().starts_with("over: Over");
        let is_of_two = name.contains("_http2_");
        Some(Self {
            row: row.parse().ok()?,
            file: file.to_owned(),
            over: [!is_of_two, is_of_both || is_of_two],
            is_on_connections: is_of_both
                || is_of_two
                || BREAKS.split_whitespace().any(|word| body.contains(word)),
        })
    }
}

fn tests() -> Vec<Test> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files);
    }
    let mut tests = Vec::new();
    for file in files {
        let code = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(root).unwrap().to_str().unwrap();
        let name = name.replace('\\', "/");
        let found = code.split("fn fault_").skip(1);
        tests.extend(found.filter_map(|code| Test::read(code, &name)));
    }
    tests
}

/// The cells of the rows of the first table, and those of the second, which is about connections.
fn rows() -> [Vec<Vec<&'static str>>; 2] {
    let (all, connections) = TABLE.split_once("\n## ").unwrap();
    [all, connections].map(|table| {
        let lines = table.lines().filter(|line| line.starts_with("| "));
        let rows = lines.filter(|line| !line.starts_with("| #"));
        rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
            .collect()
    })
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("faults/table.rs")
        {
            files.push(path);
        }
    }
}

#[test]
fn the_table_names_the_files_with_the_tests_of_each_row() {
    let mut tests: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for test in self::tests() {
        tests.entry(test.row).or_default().insert(test.file);
    }
    let [rows, _] = rows();
    let numbers: Vec<u32> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(
        numbers,
        (1..=u32::try_from(rows.len()).unwrap()).collect::<Vec<_>>()
    );
    for (number, row) in numbers.iter().zip(&rows) {
        let said = row[3];
        let there = tests.get(number);
        let expected = there.map_or_else(String::new, |files| {
            let files: Vec<_> = files.iter().map(|file| format!("`{file}`")).collect();
            files.join(", ")
        });
        if expected.is_empty() {
            assert!(
                said.starts_with("waits for "),
                "row {number} has no test: {said:?}"
            );
        } else {
            assert_eq!(said, expected, "row {number}");
        }
    }
    let without_row: Vec<_> = tests
        .keys()
        .filter(|number| !numbers.contains(number))
        .collect();
    assert!(
        without_row.is_empty(),
        "tests of rows that the table lacks: {without_row:?}"
    );
}

#[test]
fn every_row_on_connections_has_a_test_over_both_protocols_or_says_why_not() {
    let tests = tests();
    let [_, rows] = rows();
    let numbers: Vec<u32> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    for test in tests.iter().filter(|test| test.is_on_connections) {
        let (row, file) = (test.row, &test.file);
        assert!(
            numbers.contains(&row),
            "row {row} is on connections: {file}"
        );
    }
    for (number, row) in numbers.iter().zip(&rows) {
        let of_row = || tests.iter().filter(|test| test.row == *number);
        for (at, said) in row[1..].iter().enumerate() {
            let expected = match (of_row().count(), of_row().any(|test| test.over[at])) {
                (0, _) => "waits",
                (_, true) => "yes",
                (_, false) => "no: ",
            };
            assert!(
                said.starts_with(expected),
                "row {number} over {}: {said:?}",
                at + 1
            );
        }
    }
}
