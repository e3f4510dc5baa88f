//! The table of faults and the tests that carry its numbers are in step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("FAULTS.md");

/// This file, whose code is no test of a row.
const THIS: &str = "faults/table.rs";

/// The folders with tests of rows.
const FOLDERS: [&str; 7] = [
    ".ci",
    "tests",
    "sdk-core/src",
    "sdk-outbox/src",
    "sdk-transport-hyper/src",
    "xtask/src",
    "examples",
];

/// What the tests of rows on connections do to them.
const BREAKS: &str = ".close_on_reuse( .cut_at( .cut_short( .dripped( .slow_headers( .silence_next( \
                      .unended( reset( stall(";

/// The tests of a row.
#[derive(Default)]
struct Row {
    /// Their files, relative to the repository.
    files: BTreeSet<String>,
    /// Whether one of them runs over HTTP/1.1, and one over HTTP/2.
    over: [bool; 2],
    is_on_connections: bool,
}

/// The tests of all rows, by the number in their names.
fn tests() -> BTreeMap<u32, Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = BTreeMap::<u32, Row>::new();
    for file in FOLDERS.iter().flat_map(|folder| files(&root.join(folder))) {
        let code = fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(root).unwrap().to_str().unwrap();
        // A function of Rust, or of Python.
        let tests = code
            .split("fn fault_")
            .flat_map(|it| it.split("def fault_"));
        for test in tests.skip(1) {
            let (name, body) = test.split_once('(').unwrap();
            let number = name.split('_').next().unwrap();
            let Ok(number) = number.parse() else {
                continue;
            };
            let row = rows.entry(number).or_default();
            let is_of_both = body.trim_start().starts_with("over: Over");
            let is_of_two = name.contains("_http2_");
            row.files.insert(format!("`{}`", file.replace('\\', "/")));
            row.over[0] |= !is_of_two;
            row.over[1] |= is_of_both || is_of_two;
            let breaks = BREAKS.split_whitespace().any(|word| body.contains(word));
            row.is_on_connections |= is_of_both || is_of_two || breaks;
        }
    }
    rows
}

/// The files of a folder with code of Rust or Python, without this one.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|it| it == "rs" || it == "py")
            && !path.ends_with(THIS)
        {
            found.push(path);
        }
    }
    found
}

/// The number and the other cells of each row of a table.
fn cells(table: &str) -> impl Iterator<Item = (u32, Vec<&str>)> {
    let lines = table.lines().filter(|line| line.starts_with("| "));
    let rows = lines.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect());
    rows.filter_map(|row: Vec<_>| Some((row[0].parse().ok()?, row[1..].to_vec())))
}

#[test]
fn the_table_names_the_files_with_the_tests_of_each_row() {
    let mut tests = tests();
    let (table, _) = TABLE.split_once("\n## ").unwrap();
    for ((number, cells), expected) in cells(table).zip(1..) {
        assert_eq!(number, expected);
        let said = cells[2];
        match tests.remove(&number) {
            Some(row) => {
                let files = row.files.into_iter().collect::<Vec<_>>().join(", ");
                assert_eq!(said, files, "row {number}");
            }
            None => assert!(said.starts_with("waits for "), "row {number}: {said:?}"),
        }
    }
    let without_row: Vec<_> = tests.keys().collect();
    assert!(without_row.is_empty(), "the table lacks {without_row:?}");
}

#[test]
fn every_row_on_connections_has_a_test_over_both_protocols_or_says_why_not() {
    let tests = tests();
    let (_, table) = TABLE.split_once("\n## ").unwrap();
    let said: BTreeMap<_, _> = cells(table).collect();
    for (number, row) in &tests {
        let has_cells = said.contains_key(number);
        assert!(
            has_cells || !row.is_on_connections,
            "row {number} is on connections"
        );
    }
    for (number, cells) in said {
        for (at, said) in cells.iter().enumerate() {
            let over = tests.get(&number).map(|row| row.over[at]);
            let expected = over.map_or("waits", |over| if over { "yes" } else { "no: " });
            assert!(said.starts_with(expected), "row {number}: {said:?}");
        }
    }
}
