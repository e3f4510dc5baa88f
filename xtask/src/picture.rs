//! The README's picture of a lost reply. A test makes the two runs that it shows, because this program does without the SDK.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::{Result, at};

/// Runs the test, which compares the picture with the runs, and writes it first unless it is only to be checked.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo.args(["test", "--quiet", "--test", "suite", "programs::picture"]);
    // Build scripts that read these, which cargo sets for this program, would run again.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
            cargo.env_remove(&name);
        }
    }
    if !check {
        cargo.env("DRAW_PICTURE", "1");
    }
    let status = cargo.status().map_err(at("cargo does not start"))?;
    if !status.success() {
        return Err("the picture is not that of its runs".into());
    }
    Ok(())
}
