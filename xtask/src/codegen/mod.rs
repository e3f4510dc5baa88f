//! Code from specs: types, calls, operation table and public face of each client, and the list of operations of
//! the reference server.

mod builder;
mod calls;
mod docs;
mod document;
mod example;
mod face;
mod gaps;
mod inputs;
mod names;
mod operation;
mod parameter;
mod pattern;
mod provenance;
mod reach;
mod readme;
mod request;
mod resolve;
mod root;
mod rust;
mod schema;
mod server;
mod spec;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod types;
mod view;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use self::reach::Reach;
pub(crate) use self::spec::Method;
use self::spec::Spec;
use self::tree::Tree;
pub(crate) use crate::Result;
use crate::{assumptions, at};

/// An application of the suite, with the client crate `sdk-<name>`.
#[derive(Debug)]
pub(crate) struct App {
    /// The stem of its spec, and its name in the operation table.
    pub(crate) name: &'static str,
    /// The modules of that crate that are written by hand.
    by_hand: &'static [&'static str],
}

/// The applications, in the order of the contract.
const APPS: [App; 4] = [
    app("crm", &["owner"]),
    app("calendar", &["event"]),
    app("accounting", &[]),
    app("platform", &[]),
];

const fn app(name: &'static str, by_hand: &'static [&'static str]) -> App {
    App { name, by_hand }
}

/// The lints that generated code is not held to. It is formatted and documented, but nobody reads it for style.
const MODULE: &str = "\
#![allow(clippy::all, clippy::pedantic)]

pub(crate) mod calls;
pub(crate) mod face;
pub mod operations;
pub mod types;
";

/// Generates all code below `root`, or with `check` only says what would change.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let tree = generate(root)?;
    if check {
        let differences = tree.differences(root);
        if differences.is_empty() {
            println!("generated code is up to date");
            return Ok(());
        }
        let paths = differences.iter().map(|path| path.display().to_string());
        return Err(format!(
            "generated code differs; run `cargo xtask codegen`:\n  {}",
            paths.collect::<Vec<_>>().join("\n  ")
        ));
    }
    let changed = tree.write(root)?;
    for path in &changed {
        println!("{}", path.display());
    }
    println!("{} files changed", changed.len());
    Ok(())
}

fn generate(root: &Path) -> Result<Tree> {
    let mut specs = Vec::new();
    for app in &APPS {
        let file = format!("specs/{}.yaml", app.name);
        specs.push(Spec::read(app, &read(root, &file)?).map_err(at(file))?);
    }
    check_ids(&specs)?;
    let used: BTreeMap<String, _> = specs
        .iter()
        .map(|spec| (spec.file(), spec.assumptions.clone()))
        .collect();
    let register = read(root, "specs/ASSUMPTIONS.md")?;
    assumptions::check(&register, &used)?;

    let mut tree = Tree::default();
    for spec in &specs {
        client(root, spec, &mut tree).map_err(at(spec.file()))?;
    }
    server::add(root, &specs, &mut tree)?;
    let page = gaps::write(&specs, &read(root, "specs/GAPS.md")?, &register);
    tree.add(gaps::PAGE, page.map_err(at(gaps::PAGE))?);
    if let Ok(readme) = fs::read_to_string(root.join("README.md"))
        && let Some(text) = readme::update(&readme, &specs).map_err(at("README.md"))?
    {
        tree.add("README.md", text);
    }
    Ok(tree)
}

fn client(root: &Path, spec: &Spec, tree: &mut Tree) -> Result<()> {
    let reach = Reach::of(spec)?;
    let generated = view::generate(spec)?;
    let (calls, call_list) = calls::write(spec, &generated)?;
    let folder = format!("sdk-{}/src/generated", spec.app.name);
    for (name, code) in [
        ("mod.rs", MODULE.to_owned()),
        ("types.rs", types::write(spec, &reach, &generated)?),
        ("calls.rs", calls),
        ("operations.rs", table::write(spec)),
        ("face.rs", face::write(spec, &reach, &call_list)?),
    ] {
        tree.add_rust(root, format!("{folder}/{name}"), &spec.file(), &code)?;
    }
    let root_file = format!("sdk-{}/src/lib.rs", spec.app.name);
    tree.add_rust(root, root_file, &spec.file(), &root::write(spec))?;
    tree.own(folder);
    Ok(())
}

/// The reference server has one list of all operations, so their ids are unique in all specs together.
fn check_ids(specs: &[Spec]) -> Result<()> {
    let mut owners = BTreeMap::new();
    for (spec, operation) in spec::all(specs) {
        let (file, id) = (spec.file(), &operation.id);
        if let Some(other) = owners.insert(names::pascal(id), file.clone()) {
            return Err(format!(
                "{file}: operation `{id}`: {other} has one of this id too"
            ));
        }
    }
    Ok(())
}

fn read(root: &Path, file: &str) -> Result<String> {
    fs::read_to_string(root.join(file)).map_err(at(file))
}
