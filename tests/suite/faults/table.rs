//! Compares the table of faults with the tests that have its numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("FAULTS.md");

/// This file contains no test of a row.
const THIS: &str = "faults/table.rs";

const FOLDERS: [&str; 7] = [
    ".ci",
    "tests",
    "sdk-core/src",
    "sdk-outbox/src",
    "sdk-transport-hyper/src",
    "xtask/src",
    "examples",
];

/// The connection faults in tests of rows about connections.
const BREAKS: &str = ".close_on_reuse( .cut_at( .cut_short( .dripped( .slow_headers( .silence_next( \
                      .unended( reset( stall(";

#[derive(Default)]
struct Row {
    /// The files of the tests, relative to the repository.
    files: BTreeSet<String>,
    /// Whether a test runs over HTTP/1.1, and whether one runs over HTTP/2.
    over: [bool; 2],
    is_on_connections: bool,
}

/// Returns the tests of all rows, by the number in their names.
fn tests() -> BTreeMap<u32, Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = BTreeMap::<u32, Row>::new();
    for file in FOLDERS.iter().flat_map(|folder| files(&root.join(folder))) {
        let code = fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(root).unwrap().to_str().unwrap();
        // Functions in Rust or Python.
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

/// Returns the Rust and Python files of a folder, without this file.
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

/// Returns the number and the other cells of each row of a table.
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
        let listed = cells[2];
        match tests.remove(&number) {
            Some(row) => {
                let files = row.files.into_iter().collect::<Vec<_>>().join(", ");
                assert_eq!(listed, files, "row {number}");
            }
            None => assert!(listed.starts_with("waits for "), "row {number}: {listed:?}"),
        }
    }
    let without_row: Vec<_> = tests.keys().collect();
    assert!(
        without_row.is_empty(),
        "the table has no rows {without_row:?}"
    );
}

#[test]
fn every_row_about_connections_is_tested_over_both_protocols_or_gives_a_reason() {
    let tests = tests();
    let (_, table) = TABLE.split_once("\n## ").unwrap();
    let listed: BTreeMap<_, _> = cells(table).collect();
    for (number, row) in &tests {
        let has_cells = listed.contains_key(number);
        assert!(
            has_cells || !row.is_on_connections,
            "row {number} is about connections"
        );
    }
    for (number, cells) in listed {
        for (at, listed) in cells.iter().enumerate() {
            let over = tests.get(&number).map(|row| row.over[at]);
            let expected = over.map_or("waits", |over| if over { "yes" } else { "no: " });
            assert!(listed.starts_with(expected), "row {number}: {listed:?}");
        }
    }
}
