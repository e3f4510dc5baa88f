//! What the examples owe to whoever runs them, as programs: row 84 of the list of faults. What each of them is for is
//! tested in `walks` and `commands`.

#[cfg(unix)]
mod files;
mod output;
#[cfg(unix)]
mod private;
#[cfg(unix)]
mod signals;
mod tables;
mod terminal;

use std::io::Read as _;
use std::process::{Child, Command, Stdio};

use sdk_reference_server::{ReferenceServer, Transport};

use crate::programs::{Folder, program, told};

type Environment = Vec<(String, String)>;

async fn server() -> ReferenceServer {
    let server = ReferenceServer::builder().transport(Transport::Hyper);
    server.people(100).start().await
}

/// An example in a folder: its name and its arguments.
fn command(environment: Environment, folder: &Folder, line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = Command::new(program(words.next().unwrap()));
    command.args(words).envs(environment).current_dir(&folder.0);
    command
}

/// Starts an example, and hears all that it says.
fn start(environment: Environment, folder: &Folder, line: &str) -> Child {
    let mut command = command(environment, folder, line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// How it ends, what it says to people until then, and what it puts out.
fn end(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let said = told(&output);
    (
        output.status.code(),
        said,
        String::from_utf8(output.stdout).unwrap(),
    )
}

/// [`start`] and [`end`].
fn run(environment: Environment, folder: &Folder, line: &str) -> (Option<i32>, String, String) {
    end(start(environment, folder, line))
}

/// Waits until it has put out a line, byte by byte, so that the rest stays where it is.
fn first_line(child: &mut Child) {
    let (out, mut byte) = (child.stdout.as_mut().unwrap(), [0]);
    while byte != *b"\n" {
        out.read_exact(&mut byte).unwrap();
    }
}
