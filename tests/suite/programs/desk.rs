//! What the examples owe to the people who run them, as programs: row 84 of the list of faults. Their purposes are tested
//! in `walks` and `commands`.

#[cfg(unix)]
mod files;
mod output;
#[cfg(unix)]
mod signals;
mod text;

use std::process::{Child, Command, Output, Stdio};

use sdk_reference_server::{ReferenceServer, Transport};

use crate::programs::{Folder, program, told};
use crate::support::assert_says;

async fn server() -> ReferenceServer {
    let server = ReferenceServer::builder().transport(Transport::Hyper);
    server.people(100).start().await
}

/// A folder in which examples run, and the variables that they see.
struct Desk {
    folder: Folder,
    environment: Vec<(String, String)>,
}

impl Desk {
    fn new(environment: Vec<(String, String)>) -> Self {
        let folder = Folder::new("example");
        Self {
            folder,
            environment,
        }
    }

    /// An example with its arguments.
    fn command(&self, line: &str) -> Command {
        let mut words = line.split(' ');
        let mut command = Command::new(program(words.next().unwrap()));
        command.args(words).current_dir(&self.folder.0);
        command.envs(self.environment.clone());
        command
    }

    /// Starts an example, and hears all that it says.
    fn start(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, line: &str) -> Ended {
        Ended::of(self.start(line))
    }
}

/// How an example ended, what it said to people until then, and what it put out.
struct Ended {
    code: Option<i32>,
    said: String,
    out: String,
}

impl Ended {
    fn of(child: Child) -> Self {
        child.wait_with_output().unwrap().into()
    }

    /// Checks the exit status, and that it said these words.
    #[track_caller]
    fn with(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.said);
        assert_says(&self.said, words);
        assert!(!self.said.contains("panicked"), "{}", self.said);
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            said: told(&output),
            out: String::from_utf8(output.stdout).unwrap(),
        }
    }
}
