//! The `suite` program, row 84 of `faults/FAULTS.md`, the README with its picture, and the guide's index of error
//! messages.

mod call;
mod desk;
mod doctor;
mod error_messages;
mod export;
#[cfg(unix)]
mod files;
mod funnel;
mod mcp;
mod outbox;
mod output;
mod picture;
mod recipes;
#[cfg(unix)]
mod signals;
mod strings;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use sdk_core::App;

use crate::peer::Peer;

/// A temporary folder of a test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        // Two test runs may share the target folder.
        let name = format!("{name}-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the sorted names of its files.
    pub(crate) fn names(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let names: BTreeSet<_> = names.collect();
        names.into_iter().collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the path of an example.
pub(crate) fn program(name: &str) -> PathBuf {
    built("--example", name, &format!("examples/{name}"))
}

/// Returns the `suite` program, without the variables of the person who runs the tests.
pub(crate) fn suite() -> Command {
    let mut suite = Command::new(built("--bin", "suite", "suite"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.contains("SUITE_") || name.to_ascii_lowercase().ends_with("_proxy") {
            suite.env_remove(&*name);
        }
    }
    suite
}

/// Returns the path of a program. `cargo test` builds it with the tests, but `cargo test --test suite` does not.
fn built(kind: &str, name: &str, path: &str) -> PathBuf {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().and_then(Path::parent).unwrap();
    let program = profile.join(path);
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    // Serializes the tests, and builds each program once.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.contains(name) && is_stale(&program) {
        let mut cargo = Command::new(env!("CARGO"));
        // `--workspace` selects the features of the test build.
        cargo.args(["build", "--quiet", "--workspace", kind, name]);
        // Cargo sets these variables for tests. A build script that reads them would run again.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
                cargo.env_remove(&name);
            }
        }
        assert!(cargo.status().unwrap().success());
    }
    built.insert(name.to_owned());
    program
}

/// Returns whether the program is missing or older than one of its sources, which cargo lists in a file next to it.
fn is_stale(program: &Path) -> bool {
    let modified = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    let sources = std::fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let mut sources = sources.split_whitespace().skip(1).map(Path::new);
    !program.exists() || sources.any(|source| modified(source) > modified(program))
}

/// Returns the variables of a program that calls a peer.
pub(crate) fn environment(peer: &Peer) -> Vec<(String, String)> {
    // One origin can't be the audience of all applications.
    let of_app = |app: App| {
        [
            (app.url_variable(), peer.url()),
            (app.audience_variable(), app.name().to_owned()),
        ]
    };
    let credential =
        ["SUITE_CLIENT_ID", "SUITE_CLIENT_SECRET"].map(|name| (name, "of-a-test".to_owned()));
    let all = App::all().flat_map(of_app).chain(credential);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(crate) fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).output().unwrap()
}

pub(crate) fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
