//! Generates the clients, the operations of the reference server, and the docs of both from the specs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::findings::Findings;
use crate::model::app::{APPS, SAMPLE, tried};
use crate::model::{App, Spec, all};
use crate::write::tree::{Tree, text_of};
use crate::write::{client, pages, program, server};
use crate::{Result, adopt, assumptions, at, names, read};

/// Generates all code below `root`, or with `check` only reports the files that would change.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let (tree, sample) = (generate(root)?, sample(root)?);
    for note in &tree.notes {
        println!("{note}");
    }
    if check {
        adopt::check(root)?;
        assumptions::check(root)?;
        // The sample is not checked in.
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
    let mut changed = tree.write(root)?;
    changed.extend(sample.write(root)?);
    for path in &changed {
        println!("{}", path.display());
    }
    println!("{} files changed", changed.len());
    Ok(())
}

/// The spec and the client of the sample, which git ignores. The root of its crate is handwritten, so that its build script
/// can run without generated code.
fn sample(root: &Path) -> Result<Tree> {
    let (text, mut tree) = (adopt::made(root, &SAMPLE)?, Tree::default());
    client::modules(root, &parsed(&SAMPLE, &text)?, &mut tree).map_err(at(SAMPLE.spec()))?;
    tree.add(SAMPLE.spec(), text);
    Ok(tree)
}

/// Generates the clients of the specs in a separate folder, to try documents.
pub(crate) fn attempt(root: &Path) -> Result<()> {
    for app in APPS {
        // It lives as long as the process, like the applications of `APPS`.
        let app: &'static App = Box::leak(Box::new(tried(app.name)));
        if root.join(app.spec()).exists() {
            let mut tree = Tree::default();
            client::add(root, &spec(root, app)?, &mut tree)?;
            println!("{} files changed", tree.write(root)?.len());
        }
    }
    Ok(())
}

fn generate(root: &Path) -> Result<Tree> {
    let (mut specs, mut rejected) = (Vec::new(), Vec::new());
    for app in APPS {
        match spec(root, app) {
            Ok(spec) => specs.push(spec),
            Err(findings) => rejected.push(findings),
        }
    }
    if !rejected.is_empty() {
        return Err(rejected.join("\n"));
    }
    check_ids(&specs)?;
    let register = text_of(root, "specs/ASSUMPTIONS.md")?;

    let mut tree = Tree::default();
    for spec in &specs {
        client::add(root, spec, &mut tree).map_err(at(spec.file()))?;
    }
    server::add(root, &specs, &mut tree)?;
    program::add(root, &specs, &register, &mut tree)?;
    let ours = |spec: &Spec| !adopt::is_adopted(root, spec.app);
    let page = pages::operations(&specs, &ours, &text_of(root, "specs/GAPS.md")?, &register);
    tree.add(pages::OPERATIONS, page.map_err(at(pages::OPERATIONS))?);
    Ok(tree)
}

fn spec(root: &Path, app: &'static App) -> Result<Spec> {
    parsed(app, &text_of(root, &app.spec())?)
}

fn parsed(app: &'static App, text: &str) -> Result<Spec> {
    let spec = read::own_spec(app, text, &mut Findings::default());
    spec.map_err(|rejected| {
        let lines = rejected
            .lines()
            .map(|line| format!("{}: {line}", app.spec()));
        lines.collect::<Vec<_>>().join("\n")
    })
}

/// The reference server has one list of all operations, so their IDs must be unique across all specs.
fn check_ids(specs: &[Spec]) -> Result<()> {
    let mut owners = BTreeMap::new();
    for (spec, operation) in all(specs) {
        let (file, id) = (spec.file(), &operation.id);
        if let Some(other) = owners.insert(names::pascal(id), file.clone()) {
            return Err(format!(
                "{file}: operation `{id}`: {other} has an operation with this ID too"
            ));
        }
    }
    Ok(())
}
