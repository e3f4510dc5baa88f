//! rustdoc's description of a crate as JSON, which is unstable: one version of the format for some releases of Rust.
//!
//! Only rustdoc itself runs with `RUSTC_BOOTSTRAP`. Build scripts look at that variable, so that setting it for cargo
//! would build half of the dependencies anew; hence this program stands in for rustdoc, and passes it on.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{Result, at};

/// Set while this program stands in for the rustdoc that the variable names.
pub(crate) const WRAPPED: &str = "XTASK_RUSTDOC";

/// Runs the true rustdoc with the arguments of this process.
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

/// Documents all libraries of the workspace, and returns the paths of the documents of these.
pub(crate) fn document(root: &Path, crates: &[&str]) -> Result<Vec<PathBuf>> {
    let own = env::current_exe().map_err(at("this program has no path"))?;
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    // All of the workspace, or cargo would choose other features for shared dependencies, and check these anew. What tests of
    // users stand on is public too.
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
    // This program lies in a folder of the target folder, and so do the documents.
    let target = own.ancestors().nth(2).ok_or("this program has no folder")?;
    let path = |name: &&str| target.join(format!("doc/{}.json", name.replace('-', "_")));
    Ok(crates.iter().map(path).collect())
}
