//! Each state in which a crash can leave the files of an export.

// The example's own files: a test from outside cannot hit each of these moments.
#[path = "../../../../examples/support/private.rs"]
mod private;
#[path = "../../../../examples/export/target.rs"]
mod target;

use std::fs;
use std::path::Path;

use sdk_core::Checkpoint;
use serde_json::json;

use crate::programs::Folder;
use crate::support::assert_says;
use target::{Found, Place, Saved, Target};

fn checkpoint(finished: bool) -> Checkpoint {
    serde_json::from_value(json!({"version": 1, "finished": finished})).unwrap()
}

fn place(file: &Path) -> Place {
    Place::claim(file).unwrap()
}

/// An export that has saved `one` and written `two` besides.
fn interrupted(file: &Path) -> Target {
    let mut target = place(file).begin().unwrap();
    target.append(b"one\n").unwrap();
    target.save(checkpoint(false), None).unwrap();
    target.append(b"two\n").unwrap();
    target
}

fn saved(file: &Path) -> Saved {
    match place(file).look().unwrap() {
        Found::Interrupted(saved) => saved,
        found => panic!("it was interrupted: {found:?}"),
    }
}

/// Adds a last line, and gives the file its name.
fn finish(mut target: Target, line: &str) {
    target.append(line.as_bytes()).unwrap();
    target.save(checkpoint(true), None).unwrap();
    target.publish().unwrap();
}

#[test]
fn a_checkpoint_that_was_begun_and_not_renamed_is_ignored_and_removed() {
    let folder = Folder::new("export-files-cut");
    let file = folder.file("a.csv");
    drop(interrupted(&file));
    fs::write(folder.file("a.csv.checkpoint.new"), "{\"chec").unwrap();

    let saved = saved(&file);
    finish(place(&file).go_on(&saved).unwrap(), "2\n");

    assert_eq!(fs::read(&file).unwrap(), b"one\n2\n");
    assert_eq!(folder.names(), ["a.csv"]);
}

#[test]
fn a_finished_export_is_published_by_the_next_run_or_known_to_be() {
    let folder = Folder::new("export-files-finished");
    let file = folder.file("a.csv");
    // Of an earlier export, to be replaced.
    fs::write(&file, "old").unwrap();
    let mut target = place(&file).begin().unwrap();
    target.append(b"one\n").unwrap();
    target.save(checkpoint(true), None).unwrap();
    drop(target);
    assert!(saved(&file).checkpoint.is_finished());
    assert_eq!(fs::read(&file).unwrap(), b"old");

    // Dead between the rename and the removal.
    fs::rename(folder.file("a.csv.part"), &file).unwrap();
    let found = place(&file).look().unwrap();
    assert!(matches!(found, Found::Complete(saved) if saved.bytes == 4));
    target::forget(&file).unwrap();
    assert!(matches!(place(&file).look().unwrap(), Found::Nothing));
    assert_eq!(fs::read(&file).unwrap(), b"one\n");
}

#[test]
fn files_that_do_not_fit_are_an_error_until_they_are_given_up() {
    let folder = Folder::new("export-files-odd");
    let file = folder.file("a.csv");
    let odd: [fn(&Path); 3] = [
        |folder| fs::remove_file(folder.join("a.csv.part")).unwrap(),
        |folder| fs::write(folder.join("a.csv.part"), "on").unwrap(),
        |folder| fs::write(folder.join("a.csv.checkpoint"), "{").unwrap(),
    ];
    for spoil in odd {
        drop(interrupted(&file));
        spoil(&folder.0);
        let error = place(&file).look().unwrap_err().to_string();
        assert_says(&error, &["--restart begins anew", "a.csv."]);
    }
    drop(place(&file).begin().unwrap());
    assert!(matches!(place(&file).look().unwrap(), Found::Nothing));
}

#[test]
fn of_two_exports_that_begin_at_once_one_is_rejected() {
    let folder = Folder::new("export-files-at-once");
    let file = folder.file("a.csv");
    let (first, second) = (place(&file), place(&file));
    let target = first.begin().unwrap();
    let error = second.begin().unwrap_err().to_string();
    assert_says(&error, &["a.csv: another export"]);
    finish(target, "one\n");
    assert_eq!(folder.names(), ["a.csv"]);
}

/// As in a child process that is being started: it has copies of all descriptors until it runs its program.
#[test]
fn a_lock_ends_with_its_export_whoever_has_a_copy_of_the_descriptor() {
    let folder = Folder::new("export-files-copy");
    let file = folder.file("a.csv");
    let target = place(&file).begin().unwrap();
    let _copy = target.part.0.try_clone().unwrap();
    Place::claim(&file).expect_err("the export is running");
    drop(target);
    place(&file);
}
