//! The `export` example, as a program that is killed, interrupted and started again.

mod files;
mod runs;

use std::path::Path;
use std::process::Command;

use sdk_reference_server::{Operation, ReferenceServer};

use super::server_of;
use crate::programs::{Folder, output, program, told};
use crate::support::until;

/// An export from a server to a file.
fn command(server: &ReferenceServer, list: &str, file: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(program("export"));
    command.args([list, "--out"]).arg(file).args(options);
    command.envs(server.environment());
    command
}

/// Runs an export to its end: its exit status, and its messages.
fn export(server: &ReferenceServer, list: &str, file: &Path, options: &[&str]) -> (i32, String) {
    let output = output(&mut command(server, list, file, options));
    (output.status.code().unwrap(), told(&output))
}

/// An export consists of equal rounds: some pages are appended, and a checkpoint is saved. It is killed after each number
/// of pages, up to the first page after a checkpoint. The states in which it can die beyond that are those of its files.
#[tokio::test]
async fn an_export_killed_between_any_two_pages_equals_an_undisturbed_one() {
    let server = server_of(300).await;
    let folder = Folder::new("export-kills");
    let options = ["--limit", "25", "--save-every", "2"];
    let pages = Operation::ListPeople;
    for name in ["people.ndjson", "people.csv"] {
        let (file, whole) = (folder.file(name), folder.file(&format!("whole-{name}")));
        assert_eq!(export(&server, "people", &whole, &options).0, 0);
        for answered in 0..=3 {
            let held = server.fault(pages).skip(answered).stall();
            let begun = server.attempts(pages);
            let mut child = command(&server, "people", &file, &options);
            let mut child = child.spawn().unwrap();
            until(|| server.attempts(pages) > begun + answered).await;
            child.kill().unwrap();
            child.wait().unwrap();
            held.remove();
            assert!(!file.exists());
        }
        let (code, said) = export(&server, "people", &file, &options);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("Going on after "), "{said}");
        let [file, whole] = [file, whole].map(|path| std::fs::read_to_string(path).unwrap());
        assert!(file == whole, "{} bytes of {}", file.len(), whole.len());
        // A table has a header, too.
        assert_eq!(
            file.lines().count(),
            if name == "people.csv" { 301 } else { 300 }
        );
    }
    assert_eq!(folder.names().len(), 4, "{:?}", folder.names());
}
