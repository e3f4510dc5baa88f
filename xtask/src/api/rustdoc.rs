//! rustdoc's JSON description of a crate. The format is unstable, and its version depends on the release of Rust.
//!
//! Build scripts read `RUSTC_BOOTSTRAP`, so setting it for cargo would rebuild half of the dependencies. Instead, cargo
//! runs this program as rustdoc, and this program sets the variable only for the real rustdoc.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{Result, at};

/// The variable with the path of rustdoc, which is set while cargo runs this program as rustdoc.
pub(crate) const WRAPPED: &str = "XTASK_RUSTDOC";

/// Runs rustdoc with the arguments of this process.
pub(crate) fn stand_in(rustdoc: &OsStr) -> ExitCode {
    let status = Command::new(rustdoc)
        .args(env::args_os().skip(1))
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove(WRAPPED)
        .status();
    match status {
        Ok(status) => ExitCode::from(u8::from(!status.success())),
        Err(error) => {
            eprintln!("{}: {error}", rustdoc.display());
            ExitCode::FAILURE
        }
    }
}

/// Documents all libraries of the workspace, and returns the paths of the documents of `crates`.
pub(crate) fn document(root: &Path, crates: &[&str]) -> Result<Vec<PathBuf>> {
    let own = env::current_exe().map_err(at("this program has no path"))?;
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    // The whole workspace, because cargo would otherwise choose other features for shared dependencies and check them again.
    // The test utilities for users are public too.
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .args(["doc", "--workspace", "--no-deps", "--lib", "--quiet"])
        .args(["--features", "test-util,jiff-02,sqlite,postgres,outbox"])
        .env("RUSTDOC", &own)
        .env(WRAPPED, rustdoc)
        .env(
            "RUSTDOCFLAGS",
            "-Z unstable-options --output-format json --cap-lints allow",
        )
        .status()
        .map_err(at("cargo does not start"))?;
    if !status.success() {
        return Err("cargo doc failed".into());
    }
    // This program and the documents are in folders of the target folder.
    let target = own.ancestors().nth(2).ok_or("this program has no folder")?;
    let path = |name: &&str| target.join(format!("doc/{}.json", name.replace('-', "_")));
    Ok(crates.iter().map(path).collect())
}
