//! The `suite` program, run as a person or a script runs it.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use sdk_reference_server::{ReferenceServer, Transport};

use super::{Folder, messages, suite};
use crate::support::assert_says;

/// Starts a server that other processes can reach, with `people` people.
pub(crate) async fn server_of(people: u64) -> ReferenceServer {
    let builder = ReferenceServer::builder().transport(Transport::Hyper);
    builder.people(people).start().await
}

/// The program's working directory and environment variables.
pub(crate) struct Desk {
    pub(crate) folder: Folder,
    environment: Vec<(String, String)>,
}

impl Desk {
    pub(crate) fn new(environment: Vec<(String, String)>) -> Self {
        let folder = Folder::new("desk");
        Self {
            folder,
            environment,
        }
    }

    pub(crate) fn of(server: &ReferenceServer) -> Self {
        Self::new(server.environment())
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = suite();
        command.args(line.split(' ')).current_dir(&self.folder.0);
        command.envs(self.environment.clone());
        command
    }

    /// Starts the program with pipes.
    pub(crate) fn start(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    #[track_caller]
    pub(crate) fn run(&self, line: &str) -> Ended {
        Ended::of(self.start(line))
    }

    /// Runs the program in a terminal, which receives its results and messages.
    #[cfg(target_os = "linux")]
    pub(crate) fn run_at_terminal(&self, line: &str) -> Ended {
        use rustix::fs::{Mode, OFlags, open};
        use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};

        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let terminal = open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let mut command = self.command(line);
        command.env("TERM", "xterm").stdin(Stdio::null());
        command.stdout(terminal.try_clone().unwrap());
        let mut child = command.stderr(terminal).spawn().unwrap();
        // The command holds a copy of the terminal, which would keep it open.
        drop(command);
        let (mut screen, mut shown) = (fs::File::from(screen), Vec::new());
        // The last read fails because the program has closed the terminal.
        let _ = screen.read_to_end(&mut shown);
        Ended {
            code: child.wait().unwrap().code(),
            messages: String::new(),
            out: String::from_utf8(shown).unwrap().replace("\r\n", "\n"),
        }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.file(name)).unwrap()
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, content: &str) {
        fs::write(self.folder.0.join(name), content).unwrap();
    }
}

/// The exit status, the messages and the results of the program.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) messages: String,
    pub(crate) out: String,
}

impl Ended {
    pub(crate) fn of(child: Child) -> Self {
        child.wait_with_output().unwrap().into()
    }

    /// Checks the exit status, and that the messages contain these words.
    #[track_caller]
    pub(crate) fn with(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.messages, self.out);
        assert_says(&self.messages, words);
        assert!(!self.messages.contains("panicked"), "{}", self.messages);
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            messages: messages(&output),
            out: String::from_utf8(output.stdout).unwrap(),
        }
    }
}
