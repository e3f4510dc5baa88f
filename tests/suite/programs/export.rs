//! What the program writes and says.

use std::fs;
use std::process::Command;

use sdk_core::Record;
use sdk_reference_server::Operation;

use super::super::server_of;
use super::export;
use crate::programs::{Folder, output, program, told};
use crate::support::assert_says;

#[tokio::test]
async fn each_of_the_six_lists_is_exported() {
    let server = server_of(60).await;
    let folder = Folder::new("export-lists");
    let file = folder.file("list.ndjson");
    let timeline = format!("timeline:{}", server.sample_person());
    for list in [
        "people",
        "organizations",
        "opportunities",
        "tasks",
        "intake",
        &timeline,
    ] {
        let (code, said) = export(&server, list, &file, &[]);
        assert_eq!(code, 0, "{list}: {said}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.lines().count() > 10, "{list}");
        for line in text.lines() {
            line.parse::<Record>().unwrap().members().unwrap();
        }
    }
}

#[tokio::test]
async fn the_columns_are_those_of_the_first_page_or_those_that_are_named() {
    let server = server_of(5).await;
    let folder = Folder::new("export-columns");
    let file = folder.file("people.csv");

    assert_eq!(export(&server, "people", &file, &[]).0, 0);
    let mut rows = csv::Reader::from_path(&file).unwrap();
    let mut header: Vec<_> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    header.sort();
    assert_eq!(header.len(), 8);
    assert_eq!((&*header[0], &*header[7]), ("displayName", "updatedAt"));
    assert_eq!(rows.records().map(Result::unwrap).count(), 5);

    let columns = "displayName,recordVersion,nickname,organization";
    let (_, said) = export(&server, "people", &file, &["--columns", columns]);
    assert_says(&said, &["left out: email, jobTitle"]);
    let mut rows = csv::Reader::from_path(&file).unwrap();
    for row in rows.records().map(Result::unwrap) {
        assert!(!row[0].is_empty() && !row[0].starts_with('"'));
        assert!(row[1].parse::<u64>().is_ok() && row[2].is_empty());
        assert!(row[3].is_empty() || row[3].starts_with("{\""));
    }

    let nobody = ["--filter", "q=nobody-of-that-name"];
    for (name, columns, text) in [
        ("people.ndjson", &[][..], ""),
        ("people.csv", &[], ""),
        ("people.csv", &["--columns", "a,b"], "a,b\n"),
    ] {
        let (file, options) = (folder.file(name), [&nobody, columns].concat());
        assert_eq!(export(&server, "people", &file, &options).0, 0);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[tokio::test]
async fn an_interrupted_export_rejects_other_filters_and_columns_and_can_be_begun_anew() {
    let server = server_of(100).await;
    let folder = Folder::new("export-other");
    let file = folder.file("people.csv");
    let options = ["--limit", "10", "--save-every", "1"];
    let fault = server.fault(Operation::ListPeople).skip(5).status(403);
    let run = |more: &[&str]| export(&server, "people", &file, &[&options, more].concat());

    let stopped = ["403", "goes on from here", "stopped after 50 records"];
    for (more, words) in [
        (&[][..], &stopped[..]),
        (
            &["--filter", "status=active"],
            &["other filters", "--restart"],
        ),
        (
            &["--columns", "displayName"],
            &["the interrupted export has the columns ", "--restart"],
        ),
    ] {
        let (code, said) = run(more);
        assert_eq!(code, 1, "{said}");
        assert_says(&said, words);
    }
    fault.remove();
    let (code, said) = run(&["--restart", "--columns", "displayName"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 101);
}

#[test]
fn a_command_line_that_makes_no_sense_is_explained() {
    for arguments in ["", "persons", "people --limit", "people --limit x"] {
        let mut export = Command::new(program("export"));
        let output = output(export.args(arguments.split_whitespace()));
        let said = told(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_says(&said, &["usage: export LIST"]);
    }
}
