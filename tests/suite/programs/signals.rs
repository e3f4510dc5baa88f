//! The first Ctrl-C or SIGTERM ends the program at its next safe point, and the second ends it immediately.

use std::io::Read as _;
use std::process::{Child, Command};
use std::time::Duration;

use sdk_reference_server::Operation;
use serde_json::json;

use super::desk::{Desk, Ended, server_of};
use crate::peer::{Peer, always, json as page_of};
use crate::programs::environment;
use crate::support::until;

pub(super) fn send(child: &Child, signal: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[tokio::test]
async fn fault_84_an_export_ends_at_the_next_page_with_a_checkpoint() {
    let (server, pages) = (server_of(100).await, Operation::ListPeople);
    let desk = Desk::of(&server);
    let line = "export people --limit 5 --save-every 99 --out";
    desk.run(&format!("{line} whole.csv")).with(0, &[]);
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let slow = server.fault(pages).skip(3).delay(Duration::from_secs(60));
        let seen = server.attempts(pages);
        let child = desk.start(&format!("{line} a.csv --restart"));
        until(|| server.attempts(pages) == seen + 4).await;
        send(&child, signal);
        let resume = format!("{line} a.csv --resume");
        let hint = "run the same command with --resume to continue";
        Ended::of(child).with(status, &[hint, "records, stopped"]);
        slow.remove();
        let names = ["a.csv.checkpoint", "a.csv.part", "whole.csv"];
        assert_eq!(desk.folder.names(), names);

        desk.run(&resume).with(0, &[]);
        // 20 pages, the fourth page twice, and perhaps the third page too.
        assert!(server.attempts(pages) - seen <= 22);
        assert!(desk.read("a.csv") == desk.read("whole.csv"));
        std::fs::remove_file(desk.folder.file("a.csv")).unwrap();
    }
}

#[tokio::test]
async fn fault_84_an_export_to_standard_output_ends_after_a_complete_page() {
    let server = server_of(100).await;
    let slow = server.fault(Operation::ListPeople).skip(1);
    slow.delay(Duration::from_secs(60));
    let desk = Desk::of(&server);
    let mut child = desk.start("export people --limit 10");
    // Reads byte by byte, so that the second line remains in the pipe.
    let (out, mut byte) = (child.stdout.as_mut().unwrap(), [0]);
    while byte != *b"\n" {
        out.read_exact(&mut byte).unwrap();
    }
    send(&child, "-TERM");
    let message = "after 10 records. Run the same command to start over";
    let ended = Ended::of(child).with(143, &[message]);
    assert_eq!(ended.out.lines().count(), 9);
}

#[test]
fn fault_84_the_second_ctrl_c_ends_the_program_immediately() {
    // This exceeds the pipe's buffer, so the program waits for its reader.
    let page = json!({"items": [{"a": "a".repeat(1 << 20)}], "nextCursor": null});
    let peer = Peer::start(always(page_of(200, &page)));
    let desk = Desk::new(environment(&peer));
    let mut child = desk.start("export people");
    let (out, mut byte) = (child.stdout.as_mut().unwrap(), [0]);
    out.read_exact(&mut byte).unwrap();
    // A supervisor often sends SIGTERM to a process and to its group.
    send(&child, "-TERM");
    send(&child, "-TERM");
    std::thread::sleep(Duration::from_millis(50));
    assert!(child.try_wait().unwrap().is_none());
    send(&child, "-INT");
    // The test doesn't read the rest, so only the signal can end the program.
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
