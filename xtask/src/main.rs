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
  codegen --check   say whether the generated code is up to date
  codegen --root DIR
                    generate the client of an adopted document in a folder of its own, to try it
  adopt APP DOCUMENT [--root DIR] [--accept]
                    take over a vendor's document: specs/vendor/APP, specs/overlays/APP.yaml and specs/APP.yaml
  adopt --check     say whether each spec is what its vendor's document and its overlay make
  api               record the public API of the published crates in api/*.txt
  api --check       say what is not as recorded, line by line
  contract-diff OLD NEW [--json|--markdown] [--app NAME]
                    say what changed from one document to the other, and for whom it breaks
  picture           draw the README's picture of a lost reply again
  picture --check   say whether the picture is up to date";

/// A failure is a line (or several) for the person at the keyboard.
type Result<T> = std::result::Result<T, String>;

/// Names the place of an error.
fn at<E: Display>(place: impl Display) -> impl FnOnce(E) -> String {
    move |error| format!("{place}: {error}")
}

/// Fails if anything is wrong, with a line for each.
fn settled(wrong: &[String]) -> Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    Err(wrong.join("\n"))
}

/// What a document may take that nests its schemas thousands deep.
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
