//! Only the owner can read the program's files, links are not followed, one export at a time writes to a file, and each
//! file state after a crash is either resumed or rejected.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::Duration;

use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::{Value, json};

use super::desk::{Desk, Ended, server_of};
use super::signals;
use crate::peer::{Peer, json as page, script};
use crate::programs::environment;
use crate::support::until;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Makes a file readable for everyone, and creates it if it doesn't exist.
fn widen(path: &Path) {
    let mut options = fs::OpenOptions::new();
    let file = options.create(true).append(true).open(path).unwrap();
    file.set_permissions(Permissions::from_mode(0o666)).unwrap();
}

#[tokio::test]
async fn fault_84_only_the_owner_can_read_written_files() {
    let server = server_of(100).await;
    // An export of people is interrupted.
    server.fault(Operation::ListPeople).skip(2).status(403);
    let export = "export people --out a.csv --limit 10 --save-every 1 --resume";
    for (line, before, written) in [
        (
            export,
            "a.csv.part a.csv.checkpoint.new",
            "a.csv.checkpoint a.csv.part",
        ),
        ("export tasks --out a.csv", "a.csv a.csv.part", "a.csv"),
        ("funnel --out a.svg", "a.svg", "a.svg"),
    ] {
        let desk = Desk::of(&server);
        for name in before.split_whitespace() {
            widen(&desk.folder.file(name));
        }
        // The second run finds its own files readable for everyone, and resumes.
        for _ in 0..2 {
            desk.run(line);
            assert_eq!(desk.folder.names().join(" "), written, "{line}");
            for name in written.split(' ') {
                assert_eq!(mode(&desk.folder.file(name)), 0o600, "{line}: {name}");
                widen(&desk.folder.file(name));
            }
        }
    }
}

#[tokio::test]
async fn fault_84_a_link_instead_of_a_file_is_not_followed() {
    let server = server_of(100).await;
    // The folder itself can be a link, because that is the caller's path.
    let export = "export people --out way/a.csv --limit 10 --resume";
    let of_export = "a.csv a.csv.part a.csv.checkpoint a.csv.checkpoint.new";
    for (line, names) in [(export, of_export), ("funnel --out a.svg", "a.svg")] {
        // Without and with files of an earlier run.
        for (name, runs) in names.split(' ').flat_map(|name| [(name, 0), (name, 1)]) {
            let desk = Desk::of(&server);
            let fault = server.fault(Operation::ListPeople).skip(2).status(403);
            symlink(".", desk.folder.file("way")).unwrap();
            (0..runs).for_each(|_| drop(desk.run(line)));
            // A link to a file with the same content.
            let (link, victim) = (desk.folder.file(name), desk.folder.file("victim"));
            let _ = fs::rename(&link, &victim);
            widen(&victim);
            symlink(&victim, &link).unwrap();
            let text = fs::read(&victim).unwrap();

            let why = format!("{name}: it is a symbolic link");
            desk.run(line).with(1, &[&why]);

            assert!(link.is_symlink() && mode(&victim) == 0o666, "{name}");
            assert_eq!(fs::read(&victim).unwrap(), text, "{name}");
            fault.remove();
        }
    }
}

#[tokio::test]
async fn fault_84_a_second_export_to_the_same_file_is_rejected() {
    let (server, pages) = (server_of(100).await, Operation::ListPeople);
    let desk = Desk::of(&server);
    let line = "export people --limit 10 --save-every 1 --out a.csv";
    // The first export begins, and then resumes.
    for (seen, resume) in [(0, ""), (3, " --resume")] {
        let slow = server.fault(pages).skip(2).delay(Duration::from_secs(60));
        let first = desk.start(&format!("{line}{resume}"));
        until(|| server.attempts(pages) == seen + 3).await;
        for line in [line, &format!("{line} --restart")] {
            desk.run(line)
                .with(1, &["a.csv: another export is writing to it"]);
        }
        signals::send(&first, "-TERM");
        Ended::of(first).with(143, &[]);
        slow.remove();
        assert_eq!(desk.folder.names(), ["a.csv.checkpoint", "a.csv.part"]);
    }
    desk.run(&format!("{line} --resume")).with(0, &[]);
    assert_eq!(desk.folder.names(), ["a.csv"]);
    let rows = fs::read_to_string(desk.folder.file("a.csv")).unwrap();
    assert_eq!(rows.lines().count(), 101);
}

#[tokio::test]
async fn fault_84_file_errors_name_the_file() {
    let server = server_of(100).await;
    let desk = Desk::of(&server);
    for (line, file) in [
        ("export people --out nowhere/a.csv", "nowhere/a.csv.part"),
        ("funnel --out nowhere/a.svg", "nowhere/a.svg.new"),
    ] {
        desk.run(line).with(1, &[&format!("{file}: No such file")]);
    }
    // The partial file is removed while the export writes it.
    let [first, last] = [json!("2"), json!(null)]
        .map(|next| page(200, &json!({"items": [{"a": 1}], "nextCursor": next})));
    let peer = Peer::start(script([first, last.held()]));
    let desk = Desk::new(environment(&peer));
    let child = desk.start("export people --out a.csv");
    peer.saw(2).await;
    fs::remove_file(desk.folder.file("a.csv.part")).unwrap();
    peer.release(1);
    Ended::of(child).with(1, &["a.csv.part: No such file"]);
}

const EXPORT: &str = "export people --limit 10 --save-every 1 --out a.jsonl";
const RESUME: &str = "export people --limit 10 --save-every 1 --out a.jsonl --resume";

/// Returns an export that was interrupted after 30 of 100 records.
async fn interrupted() -> (ReferenceServer, Desk) {
    let server = server_of(100).await;
    let desk = Desk::of(&server);
    let fault = server.fault(Operation::ListPeople).skip(3).status(403);
    desk.run(EXPORT).with(1, &["30 records, stopped"]);
    fault.remove();
    (server, desk)
}

#[tokio::test]
async fn bytes_after_the_last_checkpoint_are_truncated() {
    let (_server, desk) = interrupted().await;
    let part = desk.read("a.jsonl.part");
    desk.write("a.jsonl.part", &format!("{part}{{\"half of a rec"));
    desk.write("a.jsonl.checkpoint.new", "{\"chec");
    desk.run(RESUME).with(0, &["Resuming after 30 records"]);
    assert_eq!(desk.folder.names(), ["a.jsonl"]);
    assert_eq!(desk.read("a.jsonl"), desk.run("export people").out);
}

#[tokio::test]
async fn an_export_that_crashed_at_its_end_is_published_by_the_next_run() {
    let (server, desk) = interrupted().await;
    // The file of an earlier export, to be replaced.
    desk.write("a.jsonl", "old");
    let mut saved: Value = serde_json::from_str(&desk.read("a.jsonl.checkpoint")).unwrap();
    saved["checkpoint"]["finished"] = true.into();
    desk.write("a.jsonl.checkpoint", &saved.to_string());
    let (part, seen) = (desk.read("a.jsonl.part"), server.requests().len());
    desk.run(EXPORT).with(1, &["--resume"]);
    desk.run(RESUME).with(0, &["a.jsonl: 30 records"]);
    assert_eq!(
        (desk.read("a.jsonl"), server.requests().len()),
        (part, seen)
    );

    // The export crashed between the rename and the removal of the checkpoint, so there is nothing to resume.
    desk.write("a.jsonl.checkpoint", &saved.to_string());
    desk.run(EXPORT).with(0, &["a.jsonl: 100 records"]);
    assert_eq!(desk.folder.names(), ["a.jsonl"]);
}

#[tokio::test]
async fn files_that_do_not_match_are_rejected_until_they_are_discarded() {
    for (name, content, why) in [
        ("a.jsonl.part", "{", "a.jsonl.part: it has fewer than the "),
        ("a.jsonl.checkpoint", "{", "a.jsonl.checkpoint: EOF"),
        (
            "a.jsonl.checkpoint",
            "{}",
            "a.jsonl.checkpoint: missing field",
        ),
    ] {
        let (_server, desk) = interrupted().await;
        desk.write(name, content);
        for line in [EXPORT, RESUME] {
            desk.run(line).with(1, &[why, "--restart to start over"]);
        }
        assert_eq!(desk.read(name), content);
        desk.run(&format!("{EXPORT} --restart")).with(0, &[]);
        assert_eq!(desk.read("a.jsonl").lines().count(), 100);
    }
}
