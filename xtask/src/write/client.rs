//! The files of one client crate.

use std::path::Path;

use crate::Result;
use crate::model::{Reach, Spec};

use super::tree::Tree;
use super::{application, face, root, table, types};

/// The lints that generated code is not held to. It is formatted and documented, but nobody reads it for style, and what
/// the contract marks as deprecated is still checked and sent.
const MODULE: &str = "\
#![allow(clippy::all, clippy::pedantic, deprecated)]

pub(crate) mod client;
pub(crate) mod face;
pub mod operations;
pub mod types;
";

/// Adds them.
pub(crate) fn add(root: &Path, spec: &Spec, tree: &mut Tree) -> Result<()> {
    modules(root, spec, tree)?;
    let library = format!("{}/src/lib.rs", spec.app.folder);
    let by_hand = root::ByHand::of(root, spec, &Reach::of(spec))?;
    tree.notes
        .extend(by_hand.iter().filter_map(root::ByHand::finding));
    let code = root::write(spec, &by_hand);
    tree.add_rust(root, library, &spec.file(), &code)
}

/// A finding for each handwritten module of a client that needs a type which its document lacks.
pub(crate) fn left_out(root: &Path, spec: &Spec) -> Result<Vec<String>> {
    let by_hand = root::ByHand::of(root, spec, &Reach::of(spec))?;
    Ok(by_hand.iter().filter_map(root::ByHand::finding).collect())
}

/// Adds all but the root of the crate.
pub(crate) fn modules(root: &Path, spec: &Spec, tree: &mut Tree) -> Result<()> {
    let folder = format!("{}/src/generated", spec.app.folder);
    for (name, code) in [
        ("mod.rs", MODULE.to_owned()),
        ("types.rs", types::write(spec, &Reach::of(spec))),
        ("client.rs", application::write(spec)),
        ("operations.rs", table::write(spec)),
        ("face.rs", face::write(spec)),
    ] {
        tree.add_rust(root, format!("{folder}/{name}"), &spec.file(), &code)?;
    }
    tree.own(folder);
    Ok(())
}
