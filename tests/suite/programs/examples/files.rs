//! One file is for one export at a time, and what goes wrong with a file names it.

use std::fs;
use std::time::Duration;

use sdk_reference_server::Operation;

use super::{end, run, server, signals, start};
use crate::programs::Folder;
use crate::support::{assert_says, until};

const PAGES: Operation = Operation::ListPeople;

#[tokio::test]
async fn fault_84_a_second_export_to_the_same_file_is_refused() {
    let (server, folder) = (server().await, Folder::new("files-second"));
    let line = "export people --limit 10 --save-every 1 --out a.csv";
    // The first one begins, and then goes on with what it has left.
    for seen in [0, 3] {
        let slow = server.fault(PAGES).skip(2).delay(Duration::from_secs(60));
        let first = start(server.environment(), &folder, line);
        until(|| server.attempts(PAGES) == seen + 3).await;
        for line in [line, &format!("{line} --restart")] {
            let (code, said, _) = run(server.environment(), &folder, line);
            assert_eq!(code, Some(1), "{said}");
            assert_says(&said, &["a.csv: another export is writing to it"]);
        }
        signals::send(&first, "-TERM");
        let (code, said, _) = end(first);
        slow.remove();
        assert_eq!(code, Some(143), "{said}");
        assert_eq!(folder.names(), ["a.csv.checkpoint", "a.csv.part"]);
    }
    let (code, said, _) = run(server.environment(), &folder, line);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(folder.names(), ["a.csv"]);
    let rows = fs::read_to_string(folder.file("a.csv")).unwrap();
    assert_eq!(rows.lines().count(), 101);
}

#[tokio::test]
async fn fault_84_what_goes_wrong_with_a_file_names_it() {
    let (server, folder) = (server().await, Folder::new("files-named"));
    for (line, file) in [
        ("export people --out nowhere/a.csv", "nowhere/a.csv.part"),
        ("funnel --out nowhere/a.svg", "nowhere/a.svg.new"),
        ("outbox service nowhere/a.db 1", "nowhere"),
    ] {
        let (code, said, _) = run(server.environment(), &folder, line);
        assert_eq!(code, Some(1), "{said}");
        assert_says(&said, &[&format!("{file}: No such file")]);
    }

    // Somebody tidies up while it is written.
    let slow = server.fault(PAGES).skip(1).times(1);
    slow.delay(Duration::from_secs(2));
    let line = "export people --limit 50 --out a.csv";
    let child = start(server.environment(), &folder, line);
    until(|| server.attempts(PAGES) == 2).await;
    fs::remove_file(folder.file("a.csv.part")).unwrap();
    let (code, said, _) = end(child);
    assert_eq!(code, Some(1), "{said}");
    assert_says(&said, &["a.csv.part: No such file"]);
}
