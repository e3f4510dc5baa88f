//! What the examples write is for its owner only, and goes where they were told to put it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use sdk_reference_server::Operation;

use super::{end, first_line, run, server, signals, start};
use crate::programs::Folder;
use crate::support::{assert_says, until};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Opens a file to everybody, and makes it if it is not there.
fn widen(path: &Path) {
    let mut options = fs::OpenOptions::new();
    let file = options.create(true).append(true).open(path).unwrap();
    file.set_permissions(Permissions::from_mode(0o666)).unwrap();
}

/// With a link in place of a file, to one of the same content, a program must end with an error, and both stay as they are.
fn refuses_link(folder: &Folder, name: &str, run: impl Fn() -> (Option<i32>, String, String)) {
    let (link, victim) = (folder.file(name), folder.file("victim"));
    let _ = fs::rename(&link, &victim);
    widen(&victim);
    symlink(&victim, &link).unwrap();
    let text = fs::read(&victim).unwrap();
    let (code, said, _) = run();
    assert_eq!(code, Some(1), "{said}");
    assert_says(&said, &[&format!("{name}: it is a symbolic link")]);
    assert!(link.is_symlink() && mode(&victim) == 0o666, "{name}");
    assert_eq!(fs::read(&victim).unwrap(), text, "{name}");
    fs::remove_file(link).unwrap();
    fs::remove_file(victim).unwrap();
}

#[tokio::test]
async fn fault_84_an_export_can_be_read_by_its_owner_only() {
    let (server, folder) = (server().await, Folder::new("private-export"));
    let export = || {
        let line = "export people --out a.csv --limit 10 --save-every 1";
        run(server.environment(), &folder, line)
    };
    // Of an earlier export, which did not care.
    for name in ["a.csv", "a.csv.part", "a.csv.checkpoint.new"] {
        widen(&folder.file(name));
    }
    // The second run finds such files too, and goes on with them.
    for _ in 0..2 {
        let fault = server.fault(Operation::ListPeople).skip(2).status(403);
        let (code, said, _) = export();
        fault.remove();
        assert_eq!(code, Some(1), "{said}");
        for file in ["a.csv.part", "a.csv.checkpoint"].map(|name| folder.file(name)) {
            assert_eq!(mode(&file), 0o600);
            widen(&file);
        }
    }
    let (code, said, _) = export();
    assert_eq!(code, Some(0), "{said}");
    assert_says(&said, &["Going on after 40 records"]);
    assert_eq!(folder.names(), ["a.csv"]);
    assert_eq!(mode(&folder.file("a.csv")), 0o600);
}

#[tokio::test]
async fn fault_84_an_export_follows_no_link() {
    let (server, folder) = (server().await, Folder::new("private-links"));
    // The folder may be reached by one: that is the caller's path.
    symlink(".", folder.file("way")).unwrap();
    let line = "export people --out way/a.csv --limit 10";
    let export = || run(server.environment(), &folder, line);
    for name in [
        "a.csv",
        "a.csv.part",
        "a.csv.checkpoint",
        "a.csv.checkpoint.new",
    ] {
        refuses_link(&folder, name, export);
        // The same when there is an export to go on with.
        let fault = server.fault(Operation::ListPeople).skip(2).status(403);
        run(server.environment(), &folder, &format!("{line} --restart"));
        fault.remove();
        refuses_link(&folder, name, export);
        let (code, said, _) = run(server.environment(), &folder, &format!("{line} --restart"));
        assert_eq!(code, Some(0), "{said}");
    }
}

#[tokio::test]
async fn fault_84_a_picture_can_be_read_by_its_owner_only_and_follows_no_link() {
    let (server, folder) = (server().await, Folder::new("private-funnel"));
    let draw = || run(server.environment(), &folder, "funnel --out a.svg");
    widen(&folder.file("a.svg"));
    assert_eq!(draw().0, Some(0));
    assert_eq!(mode(&folder.file("a.svg")), 0o600);
    refuses_link(&folder, "a.svg", draw);
    assert_eq!(folder.names(), [""; 0]);
}

#[tokio::test]
async fn fault_84_the_store_of_an_outbox_can_be_read_by_its_owner_only_and_follows_no_link() {
    let (server, folder) = (server().await, Folder::new("private-store"));
    // Killed in the middle of it, twice: first it makes its files, and then it finds them, open to everybody.
    for _ in 0..2 {
        let line = "outbox service a.db 1 --stop-at 1";
        let mut child = start(server.environment(), &folder, line);
        first_line(&mut child);
        child.kill().unwrap();
        end(child);
        assert_eq!(folder.names(), ["a.db", "a.db-shm", "a.db-wal"]);
        for file in folder.names().iter().map(|name| folder.file(name)) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
            widen(&file);
        }
    }
    for name in ["a.db-shm", "a.db-wal", "a.db"] {
        let service = || run(server.environment(), &folder, "outbox service a.db 1");
        refuses_link(&folder, name, service);
    }
}

#[tokio::test]
async fn fault_84_a_temporary_folder_is_its_owners_only_and_goes_with_the_program() {
    for (name, file) in [("token_source", "token"), ("outbox", "order1.db")] {
        let folder = Folder::new(&format!("private-{name}"));
        let temporary = ("TMPDIR".to_owned(), folder.0.display().to_string());
        let child = start(vec![temporary], &folder, name);
        let found = || {
            let mut names = folder.names().into_iter().map(|name| folder.file(&name));
            names.find(|inner| inner.join(file).exists())
        };
        until(|| found().is_some()).await;
        let inner = found().unwrap();
        assert_eq!((mode(&inner), mode(&inner.join(file))), (0o700, 0o600));
        signals::send(&child, "-TERM");
        let (code, said, _) = end(child);
        assert_eq!((code, folder.names().len()), (Some(143), 0), "{said}");
    }
}
