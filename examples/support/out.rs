//! Standard output, where the results of a program go, and standard error, where it talks to people.
//!
//! What standard output loses is an error: a program that has put half of its data on a full disk must not say that all
//! went well. A reader that has seen enough (`| head`) is none. In both cases nothing more is put out, and [`end`] says
//! which it was.

use std::fmt::{Arguments, Display};
use std::io::{self, ErrorKind, Write as _, stderr, stdout};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Why standard output takes no more.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// `println!`, but for what becomes of a line that is lost.
macro_rules! put {
    ($($line:tt)*) => {
        $crate::out::write(&(format!($($line)*) + "\n"))
    };
}

/// `eprintln!`, but that nobody has to listen.
macro_rules! note {
    ($($line:tt)*) => {
        $crate::out::say(format_args!($($line)*))
    };
}

pub(crate) use {note, put};

/// Puts out text as it is, at once: what waits for more would be lost without a word at the end.
pub(crate) fn write(text: &str) {
    let mut out = stdout();
    if !is_lost()
        && let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
    {
        let _ = LOST.set(error);
    }
}

/// Says something to people, if anybody listens.
pub(crate) fn say(line: Arguments<'_>) {
    let _ = writeln!(stderr(), "{line}");
}

/// Whether nobody gets what is put out, so that there is no reason to go on.
pub(crate) fn is_lost() -> bool {
    LOST.get().is_some()
}

/// The exit status of a program that has come to its end, or says why it has not.
pub(crate) fn finish(done: Result<ExitCode, impl Display>) -> ExitCode {
    match done {
        Ok(status) => end(status),
        Err(error) => {
            note!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The exit status of a program that would end with this one if nothing that it put out was lost.
pub(crate) fn end(status: ExitCode) -> ExitCode {
    match LOST.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            note!("standard output: {error}");
            ExitCode::FAILURE
        }
        _ => status,
    }
}
