//! The `export` example, as a program that is killed, interrupted and started again.

mod files;
mod kills;
mod runs;

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use sdk_reference_server::ReferenceServer;

use crate::programs::program;

/// An export from a server to a file.
fn command(server: &ReferenceServer, file: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(program("export"));
    command
        .args(["people", "--out"])
        .arg(file)
        .args(options)
        .envs(server.environment())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn start(command: &mut Command) -> Child {
    command.spawn().unwrap()
}

fn status(command: &mut Command) -> ExitStatus {
    command.status().unwrap()
}
