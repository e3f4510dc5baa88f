//! The README's picture of a lost reply. A test makes the two runs in the picture, because this program doesn't depend on the
//! SDK.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::{Result, at};

/// Runs the test that compares the picture with the runs. Without `check`, the test writes the picture first.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo.args(["test", "--quiet", "--test", "suite", "programs::picture"]);
    // Cargo sets these for this program. If they changed, build scripts that read them would run again.
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
        return Err("the picture does not match its runs".into());
    }
    Ok(())
}
