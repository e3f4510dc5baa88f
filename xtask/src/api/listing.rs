//! The public items of a crate, one per line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use public_api::{Builder, PublicItem};
use rustdoc_types::{Crate, FORMAT_VERSION, ItemEnum};

use crate::{Result, at};

pub(crate) fn of(document: &Path) -> Result<String> {
    let text = fs::read_to_string(document).map_err(at(document.display()))?;
    let format = format!(
        "{}: use Rust 1.95, whose rustdoc writes JSON of format {FORMAT_VERSION}, or use the versions of `public-api` and \
         `rustdoc-types` for your Rust in xtask/Cargo.toml",
        document.display()
    );
    let described: Crate = serde_json::from_str(&text).map_err(at(&format))?;
    if described.format_version != FORMAT_VERSION {
        return Err(format);
    }
    let api = Builder::from_rustdoc_json(document)
        .omit_blanket_impls(true)
        .build()
        .map_err(at(format))?;
    let lines: BTreeSet<String> = api
        .items()
        .filter(|item| !is_implied(&described, item))
        .map(ToString::to_string)
        .filter(|line| counts(line))
        .collect();
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}

/// Whether the item is part of a trait implementation, which has its own line.
fn is_implied(described: &Crate, item: &PublicItem) -> bool {
    let parent = item.parent_id().and_then(|id| described.index.get(&id));
    parent.is_some_and(
        |parent| matches!(&parent.inner, ItemEnum::Impl(inner) if inner.trait_.is_some()),
    )
}

/// Whether a user could notice a change of the line.
fn counts(line: &str) -> bool {
    // Only the client crates of this repository use these.
    let ours = [
        "sdk_core::codegen",
        "sdk_core::engine",
        "StructuralPartialEq",
    ];
    if ours.iter().any(|part| line.contains(part)) {
        return false;
    }
    // Every type is `Send` and `Sync` unless listed. The crates make no promise about other auto traits.
    let automatic = "Send Sync Unpin UnsafeUnpin Freeze UnwindSafe RefUnwindSafe";
    let mut automatic = automatic.split(' ');
    let promised = [" !core::marker::Send for ", " !core::marker::Sync for "];
    !line.starts_with("impl")
        || !automatic.any(|name| line.contains(&format!("::{name} for ")))
        || promised.iter().any(|part| line.contains(part))
}
