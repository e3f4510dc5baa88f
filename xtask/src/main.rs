//! Chores of this workspace: `cargo xtask codegen`, `adopt`, `contract-diff`, `api` and `picture`.

mod adopt;
mod api;
mod assumptions;
mod codegen;
mod diff;
mod findings;
mod model;
mod names;
mod node;
mod picture;
mod read;
mod write;

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  codegen           generate code from specs/*.yaml
  codegen --check   check that the generated code is up to date
  codegen --root DIR
                    generate the client of an adopted document in a separate folder, to try it
  adopt APP DOCUMENT [--root DIR] [--accept]
                    adopt a vendor's document, which writes specs/vendor/APP, specs/overlays/APP.yaml and specs/APP.yaml
  adopt --check     check that each spec matches its vendor's document and overlay
  api               record the public API of the published crates in api/*.txt
  api --check       list each line that differs from the record
  contract-diff OLD NEW [--json|--markdown] [--app NAME]
                    list the changes between two documents, and the breaking changes for clients and servers
  picture           draw the README's picture of a lost reply again
  picture --check   check that the picture is up to date";

/// A result whose error is a message for the terminal.
type Result<T> = std::result::Result<T, String>;

/// Returns a function that prefixes an error with its place.
fn at<E: Display>(place: impl Display) -> impl FnOnce(E) -> String {
    move |error| format!("{place}: {error}")
}

fn settled(problems: &[String]) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(problems.join("\n"))
}

/// The stack size, for documents whose schemas are nested thousands of levels deep.
const STACK: usize = 1 << 28;

fn main() -> ExitCode {
    let done = std::thread::Builder::new().stack_size(STACK).spawn(chore);
    let done = done.map(std::thread::JoinHandle::join);
    done.ok()
        .and_then(std::result::Result::ok)
        .unwrap_or(ExitCode::FAILURE)
}

fn chore() -> ExitCode {
    if let Some(rustdoc) = std::env::var_os(api::WRAPPED) {
        return api::stand_in(&rustdoc);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let done = match arguments.as_slice() {
        ["codegen"] => codegen::run(&root, false),
        ["codegen", "--root", folder] => codegen::attempt(Path::new(folder)),
        ["codegen", "--check"] => codegen::run(&root, true),
        ["adopt", arguments @ ..] => adopt::run(&root, arguments),
        ["api"] => api::run(&root, false),
        ["api", "--check"] => api::run(&root, true),
        ["picture"] => picture::run(&root, false),
        ["picture", "--check"] => picture::run(&root, true),
        ["contract-diff", rest @ ..] => return diff::run(&root, rest),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
