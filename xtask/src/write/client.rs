//! The files of one client crate.

use std::path::Path;

use crate::Result;
use crate::model::{Reach, Spec};

use super::tree::Tree;
use super::{application, calls, face, root, table, types};

/// The lints that generated code is not held to. It is formatted and documented, but nobody reads it for style.
const MODULE: &str = "\
#![allow(clippy::all, clippy::pedantic)]

pub(crate) mod calls;
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
    let reach = Reach::of(spec);
    let folder = format!("{}/src/generated", spec.app.folder);
    let (types, face) = (types::write(spec, &reach), face::write(spec));
    // What the contract marks as deprecated is still checked and sent.
    let has_deprecated = [&types, &face]
        .iter()
        .any(|code| code.contains("#[deprecated"));
    let module = if has_deprecated {
        MODULE.replacen("pedantic)", "pedantic, deprecated)", 1)
    } else {
        MODULE.to_owned()
    };
    for (name, code) in [
        ("mod.rs", module),
        ("types.rs", types),
        ("client.rs", application::write(spec)),
        ("calls.rs", calls::write(spec)),
        ("operations.rs", table::write(spec)),
        ("face.rs", face),
    ] {
        tree.add_rust(root, format!("{folder}/{name}"), &spec.file(), &code)?;
    }
    tree.own(folder);
    Ok(())
}
