//! Chores of this workspace: `cargo xtask codegen [--check]` and `cargo xtask api [--check]`.

mod api;
mod assumptions;
mod codegen;

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  codegen           generate code from specs/*.yaml
  codegen --check   say whether the generated code is up to date
  api               record the public API of the published crates in api/*.txt
  api --check       say whether it is as recorded, and whether what differs breaks users";

/// A failure is a line (or several) for the person at the keyboard.
type Result<T> = std::result::Result<T, String>;

/// Names the place of an error.
fn at<E: Display>(place: impl Display) -> impl FnOnce(E) -> String {
    move |error| format!("{place}: {error}")
}

fn main() -> ExitCode {
    if let Some(rustdoc) = std::env::var_os(api::WRAPPED) {
        return api::stand_in(&rustdoc);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let done = match arguments.as_slice() {
        ["codegen"] => codegen::run(&root, false),
        ["codegen", "--check"] => codegen::run(&root, true),
        ["api"] => api::run(&root, false),
        ["api", "--check"] => api::run(&root, true),
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
