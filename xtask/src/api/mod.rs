//! Records the public API of the published crates in `api/<crate>.txt`, and compares the records with the code.

mod listing;
mod rustdoc;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::model::app::APPS;
use crate::{Result, at};

pub(crate) use self::rustdoc::{WRAPPED, stand_in};

/// The published crates, except the clients of [`APPS`].
const CRATES: &[&str] = &[
    "sdk-core",
    "sdk-opentelemetry",
    "sdk-transport-hyper",
    "sdk-outbox",
    "sdk-reference-server",
];

/// Records the API of each crate below `root`, or with `check` only prints the differences.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let clients = APPS.iter().map(|app| app.package);
    let crates: Vec<_> = clients.chain(CRATES.iter().copied()).collect();
    let documents = rustdoc::document(root, &crates)?;
    let mut differs = Vec::new();
    for (name, document) in crates.into_iter().zip(&documents) {
        let path = format!("api/{name}.txt");
        let actual = listing::of(document).map_err(at(name))?;
        let recorded = fs::read_to_string(root.join(&path)).unwrap_or_default();
        if recorded == actual {
            continue;
        }
        println!("{path}");
        let [old, new] = [&recorded, &actual].map(|it| it.lines().collect::<BTreeSet<_>>());
        old.difference(&new).for_each(|line| println!("- {line}"));
        new.difference(&old).for_each(|line| println!("+ {line}"));
        if !check {
            let folder = root.join("api");
            fs::create_dir_all(&folder)
                .and_then(|()| fs::write(root.join(&path), actual))
                .map_err(at(&path))?;
        }
        differs.push(path);
    }
    if differs.is_empty() {
        println!("the public API matches its record");
    } else if check {
        return Err(format!(
            "the public API differs from {}; if this is intended, run `cargo xtask api`, commit the records, and write an \
             entry for the changelog",
            differs.join(", ")
        ));
    }
    Ok(())
}
