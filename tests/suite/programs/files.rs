//! What the examples write is for its owner only, goes where they were told to put it, and one file is for one export at a
//! time.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::Duration;

use sdk_reference_server::Operation;
use serde_json::json;

use super::{Desk, Ended, server, signals};
use crate::peer::{Peer, json as page, script};
use crate::programs::environment;
use crate::support::until;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Opens a file to everybody, and makes it if it is not there.
fn widen(path: &Path) {
    let mut options = fs::OpenOptions::new();
    let file = options.create(true).append(true).open(path).unwrap();
    file.set_permissions(Permissions::from_mode(0o666)).unwrap();
}

#[tokio::test]
async fn fault_84_what_is_written_can_be_read_by_its_owner_only() {
    let server = server().await;
    // An export of people is interrupted.
    server.fault(Operation::ListPeople).skip(2).status(403);
    let export = "export people --out a.csv --limit 10 --save-every 1";
    for (line, before, written) in [
        (
            export,
            "a.csv.part a.csv.checkpoint.new",
            "a.csv.checkpoint a.csv.part",
        ),
        ("export tasks --out a.csv", "a.csv a.csv.part", "a.csv"),
        ("funnel --out a.svg", "a.svg", "a.svg"),
    ] {
        let desk = Desk::new(server.environment());
        for name in before.split_whitespace() {
            widen(&desk.folder.file(name));
        }
        // The second run finds its own files open to everybody, and goes on with them.
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
async fn fault_84_no_link_in_place_of_a_file_is_followed() {
    let server = server().await;
    server.fault(Operation::ListPeople).skip(2).status(403);
    // The folder may be reached by a link: that is the caller's path.
    let export = "export people --out way/a.csv --limit 10";
    let of_export = "a.csv a.csv.part a.csv.checkpoint a.csv.checkpoint.new";
    for (line, names) in [(export, of_export), ("funnel --out a.svg", "a.svg")] {
        // Without files of an earlier run, and with them.
        for (name, runs) in names.split(' ').flat_map(|name| [(name, 0), (name, 1)]) {
            let desk = Desk::new(server.environment());
            symlink(".", desk.folder.file("way")).unwrap();
            (0..runs).for_each(|_| drop(desk.run(line)));
            // A link to a file of the same content.
            let (link, victim) = (desk.folder.file(name), desk.folder.file("victim"));
            let _ = fs::rename(&link, &victim);
            widen(&victim);
            symlink(&victim, &link).unwrap();
            let text = fs::read(&victim).unwrap();

            let why = format!("{name}: it is a symbolic link");
            desk.run(line).with(1, &[&why]);

            assert!(link.is_symlink() && mode(&victim) == 0o666, "{name}");
            assert_eq!(fs::read(&victim).unwrap(), text, "{name}");
        }
    }
}

#[tokio::test]
async fn fault_84_a_second_export_to_the_same_file_is_refused() {
    let (server, pages) = (server().await, Operation::ListPeople);
    let desk = Desk::new(server.environment());
    let line = "export people --limit 10 --save-every 1 --out a.csv";
    // The first one begins, and then goes on with what it has left.
    for seen in [0, 3] {
        let slow = server.fault(pages).skip(2).delay(Duration::from_secs(60));
        let first = desk.start(line);
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
    desk.run(line).with(0, &[]);
    assert_eq!(desk.folder.names(), ["a.csv"]);
    let rows = fs::read_to_string(desk.folder.file("a.csv")).unwrap();
    assert_eq!(rows.lines().count(), 101);
}

#[tokio::test]
async fn fault_84_what_goes_wrong_with_a_file_names_it() {
    let server = server().await;
    let desk = Desk::new(server.environment());
    for (line, file) in [
        ("export people --out nowhere/a.csv", "nowhere/a.csv.part"),
        ("funnel --out nowhere/a.svg", "nowhere/a.svg.new"),
    ] {
        desk.run(line).with(1, &[&format!("{file}: No such file")]);
    }
    // Somebody tidies up while it is written.
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
