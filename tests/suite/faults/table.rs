//! The table of faults and the tests that carry its numbers are in step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("FAULTS.md");

/// Where tests of rows may stand.
const FOLDERS: [&str; 4] = ["tests", "sdk-core/src", "xtask/src", "examples"];

/// The files with tests of each row, relative to the repository.
fn tests() -> BTreeMap<u32, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files);
    }
    let mut rows: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let code = fs::read_to_string(&file).unwrap();
        let name = file
            .strip_prefix(root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        for test in code.split("fn fault_").skip(1) {
            let number = test
                .split('_')
                .next()
                .and_then(|digits| digits.parse().ok());
            if let Some(number) = number {
                rows.entry(number).or_default().insert(name.clone());
            }
        }
    }
    rows
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
    let tests = tests();
    let rows: Vec<Vec<&str>> = TABLE
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| #"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
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
