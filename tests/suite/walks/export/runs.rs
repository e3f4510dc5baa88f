//! What the program writes and says.

use std::fs;
use std::process::Command;

use sdk_core::Record;
use sdk_reference_server::Operation;

use super::super::server_of;
use super::command;
use crate::programs::{Folder, output, program, told};
use crate::support::assert_says;

#[tokio::test]
async fn each_of_the_six_lists_is_exported() {
    let server = server_of(60).await;
    let folder = Folder::new("export-lists");
    let timeline = format!("timeline:{}", server.sample_person());
    let lists = [
        "people",
        "organizations",
        "opportunities",
        "tasks",
        "intake",
        &timeline,
    ];
    for list in lists {
        let file = folder.file("list.ndjson");
        let mut export = Command::new(program("export"));
        export
            .arg(list)
            .arg("--out")
            .arg(&file)
            .envs(server.environment());
        let output = output(&mut export);
        assert!(output.status.success(), "{list}: {}", told(&output));
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

    assert!(output(&mut command(&server, &file, &[])).status.success());
    let mut rows = csv::Reader::from_path(&file).unwrap();
    let mut header: Vec<_> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    header.sort();
    assert_eq!(header.len(), 8);
    assert_eq!((&*header[0], &*header[7]), ("displayName", "updatedAt"));
    assert_eq!(rows.records().map(Result::unwrap).count(), 5);

    let named = [
        "--columns",
        "displayName,recordVersion,nickname,organization",
    ];
    let first = output(&mut command(&server, &file, &named));
    assert!(
        told(&first).contains("left out: email, jobTitle"),
        "{}",
        told(&first)
    );
    let mut rows = csv::Reader::from_path(&file).unwrap();
    for row in rows.records().map(Result::unwrap) {
        assert!(!row[0].is_empty() && !row[0].starts_with('"'));
        assert!(row[1].parse::<u64>().is_ok() && row[2].is_empty());
        assert!(row[3].is_empty() || row[3].starts_with("{\""));
    }
}

#[tokio::test]
async fn an_empty_list_is_a_file_too() {
    let server = server_of(5).await;
    let folder = Folder::new("export-empty");
    let nobody = ["--filter", "q=nobody-of-that-name"];
    for (name, options, text) in [
        ("people.ndjson", &[][..], ""),
        ("people.csv", &[], ""),
        ("people.csv", &["--columns", "a,b"], "a,b\n"),
    ] {
        let file = folder.file(name);
        let options = [&nobody, options].concat();
        assert!(
            output(&mut command(&server, &file, &options))
                .status
                .success()
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[tokio::test]
async fn an_interrupted_export_refuses_other_filters_and_columns_and_can_be_begun_anew() {
    let server = server_of(100).await;
    let folder = Folder::new("export-other");
    let file = folder.file("people.csv");
    let options = ["--limit", "10", "--save-every", "1"];
    server
        .fault(Operation::ListPeople)
        .skip(5)
        .times(10)
        .status(403);

    let output_of = |more: &[&str]| {
        let output = output(&mut command(&server, &file, &[&options, more].concat()));
        (output.status.code(), told(&output))
    };
    let (code, said) = output_of(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert_says(
        &said,
        &["403", "goes on from here", "stopped after 50 records"],
    );

    for (more, why) in [
        (&["--filter", "status=active"], "other filters"),
        (
            &["--columns", "displayName"],
            "the interrupted export has the columns ",
        ),
    ] {
        let (code, said) = output_of(more);
        assert_eq!(code, Some(1), "{said}");
        assert_says(&said, &[why, "--restart"]);
    }
    server.clear_faults();
    let (code, said) = output_of(&["--restart", "--columns", "displayName"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 101);
}

#[tokio::test]
async fn a_command_line_that_makes_no_sense_is_explained() {
    let server = server_of(1).await;
    for arguments in [
        &[][..],
        &["persons"],
        &["people", "--limit"],
        &["people", "--limit", "x"],
    ] {
        let mut export = Command::new(program("export"));
        let output = output(export.args(arguments).envs(server.environment()));
        assert_eq!(output.status.code(), Some(2));
        assert!(
            told(&output).contains("usage: export LIST"),
            "{}",
            told(&output)
        );
    }
}
