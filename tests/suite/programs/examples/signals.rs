//! The first Ctrl-C, or SIGTERM, is heard at the next safe point, the second one at once.

use std::process::{Child, Command};
use std::time::Duration;

use sdk_reference_server::Operation;

use super::{end, first_line, run, server, start};
use crate::peer::{Peer, always, stall};
use crate::programs::{Folder, environment};
use crate::support::{assert_says, once, until};

/// What is sent, and the exit status that follows.
const SIGNALS: [(&str, i32); 2] = [("-INT", 130), ("-TERM", 143)];

pub(super) fn send(child: &Child, signal: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[tokio::test]
async fn fault_84_an_export_ends_at_the_next_page_with_a_checkpoint() {
    let (server, folder) = (server().await, Folder::new("signals-export"));
    let (pages, line) = (
        Operation::ListPeople,
        "export people --limit 5 --save-every 99 --out",
    );
    let export = |file| start(server.environment(), &folder, &format!("{line} {file}"));
    assert_eq!(end(export("whole.csv")).0, Some(0));
    for (signal, status) in SIGNALS {
        let slow = server.fault(pages).skip(3).delay(Duration::from_secs(60));
        let seen = server.attempts(pages);
        let child = export("a.csv");
        until(|| server.attempts(pages) == seen + 4).await;
        send(&child, signal);
        let (code, said, _) = end(child);
        slow.remove();
        assert_eq!(code, Some(status), "{said}");
        assert_says(&said, &["the same command goes on from here"]);
        assert_eq!(
            folder.names(),
            ["a.csv.checkpoint", "a.csv.part", "whole.csv"]
        );

        assert_eq!(end(export("a.csv")).0, Some(0));
        // 20 pages, the fourth one twice, and perhaps the third one too.
        assert!(server.attempts(pages) - seen <= 22);
        let [file, whole] = ["a.csv", "whole.csv"].map(|name| folder.file(name));
        assert!(std::fs::read(&file).unwrap() == std::fs::read(whole).unwrap());
        std::fs::remove_file(file).unwrap();
    }
}

#[tokio::test]
async fn fault_84_an_export_to_standard_output_ends_after_a_whole_page() {
    let (server, folder) = (server().await, Folder::new("signals-pipe"));
    let slow = server.fault(Operation::ListPeople).skip(1);
    slow.delay(Duration::from_secs(60));
    let line = "export people --limit 10 --out -";
    let mut child = start(server.environment(), &folder, line);
    first_line(&mut child);
    send(&child, "-TERM");
    let (code, said, rest) = end(child);
    assert_eq!((code, rest.lines().count()), (Some(143), 9), "{said}");
    assert_says(&said, &["after 10 records; the same command begins anew"]);
}

#[tokio::test]
async fn fault_84_an_outbox_ends_once_what_is_under_way_has_its_receipt() {
    let (server, folder) = (server().await, Folder::new("signals-outbox"));
    let operation = Operation::SubmitEventCommand;
    for (signal, status) in SIGNALS {
        let line = format!("outbox service a{status}.db 3");
        let (seen, before) = (server.attempts(operation), server.commits(operation));
        once(&server, operation).delay(Duration::from_millis(500));
        let child = start(server.environment(), &folder, &line);
        until(|| server.attempts(operation) > seen).await;
        send(&child, signal);
        let (code, said, _) = end(child);
        assert_eq!(code, Some(status), "{said}");
        assert_says(
            &said,
            &["3 orders and 1 receipts; the same command goes on"],
        );
        assert_eq!(server.commits(operation) - before, 1);

        assert_eq!(run(server.environment(), &folder, &line).0, Some(0));
        assert_eq!(server.commits(operation) - before, 3);
        assert_eq!(
            server.attempts(operation) - seen,
            3,
            "nothing is sent twice"
        );
    }
}

#[test]
fn fault_84_a_demonstration_and_a_measurement_end_where_they_are() {
    let folder = Folder::new("signals-others");
    for (line, last) in [
        ("outbox", "Stopped; the next run begins anew."),
        (
            "walk_million 100000",
            "Stopped; a measurement always begins anew.",
        ),
    ] {
        let mut child = start(Vec::new(), &folder, line);
        first_line(&mut child);
        send(&child, "-INT");
        let (code, said, out) = end(child);
        assert_eq!(
            (code, out.lines().last()),
            (Some(130), Some(last)),
            "{said}"
        );
    }
}

#[tokio::test]
async fn fault_84_the_second_ctrl_c_ends_at_once() {
    let folder = Folder::new("signals-twice");
    let peer = Peer::start(always(stall()));
    let mut child = start(environment(&peer), &folder, "outbox service a.db 1");
    peer.saw(1).await;
    // SIGTERM twice is still one wish: it often comes to the process and to its group.
    send(&child, "-TERM");
    send(&child, "-TERM");
    std::thread::sleep(Duration::from_millis(50));
    assert!(child.try_wait().unwrap().is_none());
    send(&child, "-INT");
    assert_eq!(end(child).0, Some(130));
}
