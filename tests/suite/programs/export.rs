//! `suite export`: its rows, and exports that were killed, stopped or rejected and then resume without losing or
//! repeating a row.

use std::time::Duration;

use sdk_core::Record;
use sdk_reference_server::Operation;

use super::desk::{Desk, Ended, server_of};
use crate::peer::{self, Peer, always};
use crate::programs::environment;
use crate::support::{assert_says, until};

const PAGES: Operation = Operation::ListPeople;

/// The export saves a checkpoint every two pages, and is killed after 0 to 9 further pages, that is, in each state
/// between two checkpoints.
#[tokio::test]
async fn an_export_killed_at_ten_places_equals_an_uninterrupted_export() {
    let server = server_of(300).await;
    let desk = Desk::of(&server);
    let line = "export people --limit 5 --save-every 2 --out";
    for (name, lines) in [("people.jsonl", 300), ("people.csv", 301)] {
        desk.run(&format!("{line} whole-{name}")).with(0, &[]);
        let line = format!("{line} {name} --resume");
        for answered in 0..10 {
            let held = server.fault(PAGES).skip(answered).stall();
            let begun = server.attempts(PAGES);
            let mut child = desk.start(&line);
            until(|| server.attempts(PAGES) > begun + answered).await;
            child.kill().unwrap();
            child.wait().unwrap();
            held.remove();
            assert!(!desk.folder.file(name).exists());
        }
        desk.run(&line).with(0, &["Resuming after "]);
        let (file, whole) = (desk.read(name), desk.read(&format!("whole-{name}")));
        assert!(file == whole, "{} bytes of {}", file.len(), whole.len());
        assert_eq!(file.lines().count(), lines);
    }
    assert_eq!(desk.folder.names().len(), 4, "{:?}", desk.folder.names());
}

#[tokio::test]
async fn an_export_survives_an_expired_token() {
    let server = server_of(100).await;
    let desk = Desk::of(&server);
    let line = "export people --limit 5 --out";
    desk.run(&format!("{line} whole.csv")).with(0, &[]);
    let (attempts, exchanges) = (server.attempts(PAGES), server.exchanges());

    let held = server.fault(PAGES).skip(5).times(1);
    let held = held.delay(Duration::from_millis(200));
    let child = desk.start(&format!("{line} a.csv"));
    until(|| held.struck() == 1).await;
    server.revoke_tokens();
    Ended::of(child).with(0, &["a.csv: 100 records, "]);

    assert!(desk.read("a.csv") == desk.read("whole.csv"));
    // 20 pages, and one page that was rejected with a 401.
    assert_eq!(server.attempts(PAGES) - attempts, 21);
    assert_eq!(server.exchanges() - exchanges, 2);
}

#[tokio::test]
async fn an_interrupted_export_is_changed_only_with_a_matching_option() {
    let server = server_of(100).await;
    let desk = Desk::of(&server);
    let line = "export people --limit 10 --save-every 1 --out a.csv";
    // Without an earlier export, `--resume` starts from the beginning.
    let fault = server.fault(PAGES).skip(5).status(403);
    let hint = "run the same command with --resume to continue";
    let stopped = ["403", "a.csv: 50 records, stopped", hint];
    desk.run(&format!("{line} --resume")).with(1, &stopped);
    let files = || ["a.csv.part", "a.csv.checkpoint"].map(|name| desk.read(name));
    let before = files();

    let interrupted = ["interrupted after 50 records", "--resume", "--restart"];
    desk.run(line).with(1, &interrupted);
    for (other, word) in [
        ("--filter status=active", "different filters"),
        ("--columns displayName", "different format or columns"),
        ("--format jsonl", "different format or columns"),
    ] {
        let other = format!("{line} --resume {other}");
        desk.run(&other).with(1, &[word, "--restart to start over"]);
    }
    desk.run(&format!("{line} --resume --restart")).with(2, &[]);
    assert_eq!(files(), before);

    fault.remove();
    let seen = server.attempts(PAGES);
    desk.run(&format!("{line} --resume"))
        .with(0, &["Resuming after 50 records"]);
    assert_eq!(server.attempts(PAGES) - seen, 5);
    assert_eq!(desk.read("a.csv").lines().count(), 101);

    server.fault(PAGES).skip(5).times(1).status(403);
    desk.run(line).with(1, &[]);
    desk.run(&format!("{line} --restart --columns displayName"))
        .with(0, &[]);
    assert_eq!(desk.read("a.csv").lines().count(), 101);
    assert_eq!(desk.folder.names(), ["a.csv"]);
}

#[tokio::test]
async fn an_error_shows_how_the_export_continues() {
    let server = server_of(100).await;
    let line = "export people --limit 10 --out a.csv";
    for (status, code, hint) in [
        (400, 1, "--restart to start over\""),
        (429, 6, "--resume to continue\""),
    ] {
        let desk = Desk::of(&server);
        let fault = server.fault(PAGES).skip(5).status(status);
        // The SDK doesn't wait this long.
        let fault = fault.retry_after("3600");
        desk.run(line).with(code, &["\"hint\":", hint]);
        assert_eq!(desk.folder.names(), ["a.csv.checkpoint", "a.csv.part"]);
        fault.remove();
    }
    // Without records, there is nothing to resume.
    let desk = Desk::of(&server);
    for option in [
        "--limit 60",
        "--filter status=none",
        "--filter statsu=active",
        "--columns a,,b",
        "--columns a,a",
        "--person PER-000000000000",
    ] {
        let line = format!("export people --out a.csv {option}");
        desk.run(&line).with(2, &["\"kind\":"]);
        assert_eq!(desk.folder.names(), [""; 0]);
    }
    desk.run("export people --resume --out -")
        .with(2, &["need a file"]);
    // Another client may have access to other records.
    let held = server.fault(PAGES).skip(5).status(403);
    desk.run(line).with(1, &[]);
    held.remove();
    let mut other = desk.command(&format!("{line} --resume"));
    let other: Ended = other
        .env("SUITE_CLIENT_ID", "another")
        .output()
        .unwrap()
        .into();
    other.with(1, &["a different client ID"]);
    desk.run(&format!("{line} --resume")).with(0, &[]);
    let columns = "export people --out b.csv --columns nickname,displayName";
    desk.run(columns)
        .with(0, &["Columns without a field in these records: nickname"]);
}

#[tokio::test]
async fn each_of_the_six_lists_is_exported() {
    let server = server_of(60).await;
    let desk = Desk::of(&server);
    let timeline = format!("timeline --person {}", server.sample_person());
    let lists = [
        "people",
        "organizations",
        "opportunities",
        "tasks",
        "intake",
    ];
    for list in lists.into_iter().chain([&*timeline]) {
        let lines = desk.run(&format!("export {list}")).with(0, &[]).out;
        assert!(lines.lines().count() > 10, "{list}");
        for line in lines.lines() {
            line.parse::<Record>().unwrap().members().unwrap();
        }
        desk.run(&format!("export {list} --out list.jsonl"))
            .with(0, &[]);
        assert_eq!(desk.read("list.jsonl"), lines, "{list}");
    }
}

#[tokio::test]
async fn the_columns_come_from_the_first_page_or_the_options() {
    let server = server_of(5).await;
    let desk = Desk::of(&server);
    desk.run("export people --out people.csv").with(0, &[]);
    let table = desk.read("people.csv");
    assert_eq!(
        desk.run("export people --format csv").with(0, &[]).out,
        table
    );
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let mut header: Vec<_> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    header.sort();
    assert_eq!(header.len(), 8);
    assert_eq!((&*header[0], &*header[7]), ("displayName", "updatedAt"));
    assert_eq!(rows.records().map(Result::unwrap).count(), 5);

    let columns = "--columns displayName,recordVersion,nickname,organization";
    let line = format!("export people --out people.csv {columns}");
    desk.run(&line)
        .with(0, &["without a column: email, jobTitle"]);
    let table = desk.read("people.csv");
    for row in csv::Reader::from_reader(table.as_bytes()).records() {
        let row = row.unwrap();
        assert!(!row[0].is_empty() && !row[0].starts_with('"'));
        assert!(row[1].parse::<u64>().is_ok() && row[2].is_empty());
        assert!(row[3].is_empty() || row[3].starts_with("{\""));
    }

    let nobody = "export people --filter q=nobody-of-that-name";
    for (options, text) in [
        ("", ""),
        (" --format csv", ""),
        (" --format csv --columns a,b", "a,b\n"),
    ] {
        let line = format!("{nobody}{options}");
        assert_eq!(desk.run(&line).with(0, &[]).out, text);
        desk.run(&format!("{line} --out a")).with(0, &[]);
        assert_eq!(desk.read("a"), text);
    }
}

#[test]
fn an_invalid_command_line_is_explained() {
    let desk = Desk::new(Vec::new());
    for (arguments, word) in [
        ("export", "<LIST>"),
        (
            "export persons",
            "people, organizations, opportunities, tasks, intake",
        ),
        ("export people --limit", "--limit <N>"),
        ("export people --limit x", "--limit <N>"),
        ("export people --save-every 0", "--save-every <N>"),
        ("export people --filter a", "NAME=VALUE"),
        ("export people --resume", "--out <FILE>"),
        ("export people --columns a", "--columns is for CSV only"),
    ] {
        desk.run(arguments).with(2, &[word]);
    }
    let lists = desk.run("export --help").with(0, &[]).out;
    assert_says(&lists, &["intake, timeline"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn progress_is_shown_on_a_terminal_only() {
    let server = server_of(100).await;
    let desk = Desk::of(&server);
    let slow = server.fault(PAGES).skip(3).every(6);
    slow.delay(Duration::from_millis(200));
    let line = "export people --limit 10 --out a.csv";

    let shown = desk.run_at_terminal(line).with(0, &[]).out;
    assert_says(
        &shown,
        &["\u{1b}[", "a.csv: 30 records, ", "a.csv: 100 records, "],
    );
    let messages = desk.run(line).with(0, &["a.csv: 100 records, "]).messages;
    assert_eq!(messages.lines().count(), 1, "{messages}");
    let quiet = format!("{line} --quiet");
    assert_eq!(desk.run_at_terminal(&quiet).with(0, &[]).out, "");
    assert_eq!(desk.run(&quiet).with(0, &[]).messages, "");
}

/// Only terminals interpret control characters. Other outputs get the rows unchanged.
#[cfg(target_os = "linux")]
#[test]
fn rows_cannot_control_a_terminal() {
    let name = "Ann\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\r\nBob";
    let page = serde_json::json!({"items": [{"name": name}], "nextCursor": null});
    let peer = Peer::start(always(peer::json(200, &page)));
    let desk = Desk::new(environment(&peer));

    assert_says(&desk.run("export people").out, &["\u{9b}31m\u{202e}"]);
    let shown = desk.run_at_terminal("export people").out;
    let record: serde_json::Value = serde_json::from_str(shown.trim()).unwrap();
    assert_eq!(record, page["items"][0], "it is the same JSON");
    let table = desk.run_at_terminal("export people --format csv").out;
    assert_eq!(
        table,
        "name\n\"Ann\\u001b]0;x\\u0007\\u009b31m\\u202e\\u000d\nBob\"\n"
    );
    assert!(!(shown + &table).contains(|letter: char| letter != '\n' && letter.is_control()));
}
