//! Writes results to standard output and messages to standard error, and decides the exit status.
//!
//! A write error is a failure, because a program must not report success after it wrote half of its data to a full
//! disk. If the reader closes the pipe early (`| head`), that is not a failure. In both cases, the program writes
//! nothing more, and [`end`] decides the exit status.

use std::borrow::Cow;
use std::fmt::Display;
use std::fmt::Write as _;
use std::io::{self, ErrorKind as IoErrorKind, IsTerminal as _, Write as _, stderr, stdout};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use sdk_core::{Effect, Error, ErrorKind, TokenError, TokenErrorKind, one_line};
use serde_json::json;

/// The error that ended standard output.
static LOST: OnceLock<io::Error> = OnceLock::new();
static QUIET: AtomicBool = AtomicBool::new(false);

/// The format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One JSON document
    Json,
    /// One JSON value per line
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command failed without an effect.
    Failed = 1,
    Usage = 2,
    /// A variable or the credential is missing or invalid.
    Setup = 3,
    /// An operator must check parked commands.
    Person = 4,
    /// A command may have been applied.
    Unknown = 5,
    /// The same command may succeed later.
    Later = 6,
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    kind: &'static str,
    message: String,
    pub(crate) hint: Option<String>,
    /// The key of a command that may have been applied.
    key: Option<String>,
    error: Option<Error>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, kind: &'static str, message: impl Display) -> Self {
        Self {
            exit,
            kind,
            message: message.to_string(),
            hint: None,
            key: None,
            error: None,
        }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// Returns the failure for an invalid variable, credential or store.
    pub(crate) fn setup(message: impl Display) -> Self {
        Self::new(Exit::Setup, "configuration", message)
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn unknown(mut self, key: Option<&str>) -> Self {
        self.exit = Exit::Unknown;
        self.key = key.map(str::to_owned);
        self
    }

    /// Prints lines for a terminal, or one line of JSON.
    fn print(&self, format: Format) {
        if format == Format::Table {
            note_always(format_args!("error: {self}"));
            if let Some(key) = &self.key {
                note_always(format_args!("key: {key}"));
            }
            if let Some(hint) = &self.hint {
                note_always(format_args!("hint: {}", escaped(hint)));
            }
            return;
        }
        let error = self.error.as_ref();
        let is_command = |it: &&Error| it.operation().is_some_and(|it| it.safety.is_command());
        let effect = error.filter(is_command).map(Error::effect);
        let effect = (self.exit == Exit::Unknown)
            .then_some(Effect::Unknown)
            .or(effect);
        note_always(json!({
            "kind": self.kind,
            "effect": effect.map(Effect::as_str),
            "status": error.and_then(Error::status),
            "code": error.and_then(Error::code).map(one_line),
            "requestId": error.and_then(Error::request_id).map(one_line),
            "key": self.key,
            "hint": self.hint.as_deref().map(escaped),
            "message": escaped(&self.message),
        }));
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&escaped(&self.message))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        // `call` marks writes that may have been applied with `unknown`.
        let exit = match error.kind() {
            ErrorKind::InvalidInput => Exit::Usage,
            ErrorKind::Configuration | ErrorKind::Unauthenticated => Exit::Setup,
            // The URL of the token endpoint leads to a portal or another service.
            ErrorKind::TokenUnavailable if is_malformed(&error) => Exit::Setup,
            ErrorKind::TokenUnavailable
            | ErrorKind::RateLimited
            | ErrorKind::Unavailable
            | ErrorKind::Connect
            | ErrorKind::Transport
            | ErrorKind::Timeout => Exit::Later,
            _ => Exit::Failed,
        };
        let hint = match exit {
            Exit::Setup => Some("`suite doctor` finds the wrong setting"),
            Exit::Later => Some("the same command may succeed later"),
            _ => None,
        };
        Self {
            hint: hint.map(str::to_owned),
            error: Some(error.clone()),
            ..Self::new(exit, error.kind().as_str(), error)
        }
    }
}

fn is_malformed(error: &Error) -> bool {
    let cause = std::error::Error::source(error);
    let token = cause.and_then(|it| it.downcast_ref::<TokenError>());
    token.is_some_and(|it| it.kind() == TokenErrorKind::Malformed)
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default();
        let words: Vec<_> = message
            .trim_start_matches("error:")
            .split_whitespace()
            .collect();
        Self::usage(words.join(" ")).with_hint("`--help` lists the options")
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::Failed, "file", error)
    }
}

pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Writes a result and a newline, unbuffered, because an error while flushing could be lost when the program exits.
pub(crate) fn put(result: impl Display) {
    write(&format!("{result}\n"));
}

pub(crate) fn write(text: &str) {
    let mut out = stdout();
    if !is_lost()
        && let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
    {
        let _ = LOST.set(error);
    }
}

/// Returns the format of failures without `--output`: lines on a terminal, otherwise JSON.
pub(crate) fn failure_format() -> Format {
    if stderr().is_terminal() {
        Format::Table
    } else {
        Format::Json
    }
}

/// Returns the error that ended standard output, unless its reader closed the pipe.
pub(crate) fn lost() -> Option<&'static io::Error> {
    LOST.get()
        .filter(|error| error.kind() != IoErrorKind::BrokenPipe)
}

/// Whether standard output has ended, so that there is no reason to continue.
pub(crate) fn is_lost() -> bool {
    LOST.get().is_some()
}

/// Whether standard output is a terminal, which interprets some characters and hides others.
pub(crate) fn is_terminal() -> bool {
    stdout().is_terminal()
}

/// Replaces characters that a terminal would interpret or hide by `\u....`.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) && !matches!(letter, '\n' | '\t') {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Returns the string unchanged, or escaped if standard output is a terminal.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if is_terminal() {
        escaped(text).into()
    } else {
        text.into()
    }
}

/// Whether a character is a control character, such as ESC, or invisible.
pub(crate) fn is_hidden(letter: char) -> bool {
    let is_plain = letter.is_ascii_graphic() || letter == ' ';
    !is_plain && one_line(letter.encode_utf8(&mut [0; 4])).is_empty()
}

/// Writes a message to standard error, unless `--quiet` is set.
pub(crate) fn note(line: impl Display) {
    if !is_quiet() {
        note_always(line);
    }
}

/// Writes a message to standard error, and ignores write errors.
pub(crate) fn note_always(line: impl Display) {
    let _ = writeln!(stderr(), "{line}");
}

pub(crate) fn end(done: Result<ExitCode, Failure>, format: Format) -> ExitCode {
    match (done, lost()) {
        (Err(failure), _) => {
            failure.print(format);
            ExitCode::from(failure.exit as u8)
        }
        (Ok(_), Some(error)) => {
            let message = format!("standard output: {error}");
            Failure::new(Exit::Failed, "file", message).print(format);
            ExitCode::FAILURE
        }
        (Ok(status), _) => status,
    }
}
