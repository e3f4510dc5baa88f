//! rustdoc's description of a crate as JSON, which is unstable: one version of the format for some releases of Rust.
//!
//! Only rustdoc itself runs with `RUSTC_BOOTSTRAP`. Build scripts look at that variable, so that setting it for cargo
//! would build half of the dependencies anew; hence this program stands in for rustdoc, and passes it on.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustdoc_types::FORMAT_VERSION;
use serde::Deserialize;
use serde_json::Value;

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
    let status = cargo(root)
        .args(["doc", "--workspace", "--no-deps", "--lib", "--quiet"])
        .args(["--features", "test-util,jiff-02"])
        .env("RUSTDOC", own)
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
    let target = target_folder(root)?;
    let documents = crates
        .iter()
        .map(|name| target.join(format!("doc/{}.json", name.replace('-', "_"))));
    documents
        .map(|path| check_format(&path).map(|()| path))
        .collect()
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

fn target_folder(root: &Path) -> Result<PathBuf> {
    let output = cargo(root)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(at("cargo does not start"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(at("cargo metadata"))?;
    let folder = metadata["target_directory"].as_str();
    folder
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target folder".into())
}

fn check_format(path: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Head {
        format_version: u32,
    }

    let text = fs::read_to_string(path).map_err(at(path.display()))?;
    let Head { format_version } = serde_json::from_str(&text).map_err(at(path.display()))?;
    if format_version == FORMAT_VERSION {
        return Ok(());
    }
    Err(format!(
        "this rustdoc writes format {format_version} of its JSON and the xtask reads {FORMAT_VERSION}, that of Rust 1.95: \
         use that toolchain, or take the `public-api` and `rustdoc-types` of yours in xtask/Cargo.toml"
    ))
}
