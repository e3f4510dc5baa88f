//! Adopts a vendor's document: stores it unchanged, proposes an overlay, and makes a spec from both. Before anything is
//! written, the report lists open decisions, idle handlers, and the verdict on each assumption.

mod files;
mod overlay;
mod propose;
mod report;
#[cfg(test)]
mod tests;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::files::{Files, read};
use self::overlay::Overlay;
use self::propose::{Read, preserved, skips, without_handlers};
use self::report::{Report, decisions};
use crate::findings::Findings;
use crate::model::app::APPS;
use crate::model::{App, Operation, Spec};
use crate::node::{Node, step};
use crate::write::client;
use crate::{Result, USAGE, at, diff, settled};

struct Wanted<'a> {
    app: &'a str,
    document: &'a str,
    accept: bool,
    /// The folder of specs and clients.
    folder: PathBuf,
}

/// Checks that every adopted spec matches its vendor's document and its overlay.
pub(crate) fn check(root: &Path) -> Result<()> {
    let problems = APPS.iter().map(|app| Files::new(root, app).check().err());
    settled(&problems.flatten().collect::<Vec<_>>())
}

pub(crate) fn is_adopted(root: &Path, app: &App) -> bool {
    Files::new(root, app).adopted().is_some()
}

/// The text of the spec from the vendor's document of an application and its overlay.
pub(crate) fn made(root: &Path, app: &App) -> Result<String> {
    Files::new(root, app).remade()
}

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    if arguments == ["--check"] {
        check(root)?;
        println!("adopted specs are up to date");
        return Ok(());
    }
    let plan = plan(root, arguments)?;
    print!("{}", plan.report);
    plan.write()
}

fn wanted<'a>(root: &Path, arguments: &[&'a str]) -> Result<Wanted<'a>> {
    let (mut named, mut accept, mut folder) = (Vec::new(), false, root.to_owned());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--accept" => accept = true,
            "--root" => folder = PathBuf::from(rest.next().ok_or("`--root` needs a value")?),
            name if name.starts_with("--") => {
                return Err(format!("unknown option `{name}`\n{USAGE}"));
            }
            name => named.push(name),
        }
    }
    let [app, document] = named[..] else {
        return Err(USAGE.to_owned());
    };
    Ok(Wanted {
        app,
        document,
        accept,
        folder,
    })
}

/// The files of an adoption before they are written, with the report about them.
struct Plan {
    files: Files,
    document: String,
    overlay: Overlay,
    spec: String,
    report: String,
    /// The number of open decisions.
    open: usize,
}

impl Plan {
    /// Writes the files. While decisions are open, it writes only the overlay and fails.
    fn write(&self) -> Result<()> {
        if self.open == 0 {
            let (document, spec) = (&self.document, &self.spec);
            return self.files.write(document, &self.overlay, spec);
        }
        self.files.write_overlay(&self.overlay)?;
        Err(format!(
            "open decisions: {}; add actions for them to {}, or accept the proposed actions with --accept",
            self.open,
            self.files.overlay_path().display()
        ))
    }
}

fn plan(root: &Path, arguments: &[&str]) -> Result<Plan> {
    let wanted = wanted(root, arguments)?;
    let app = App::named(wanted.app);
    let app = app.ok_or_else(|| format!("there is no application `{}`", wanted.app))?;
    let files = Files::new(&wanted.folder, app);
    let document = read(Path::new(wanted.document))?;
    let vendors = Node::parse(&document).map_err(at(wanted.document))?;
    let is_known = files.has(&document)?;
    let in_overlay = |error| format!("{}: {error}", files.overlay_path().display());
    let fitted = files.overlay()?.fitted(&vendors);
    let (overlay, gone) = fitted.map_err(in_overlay)?;
    let (laid, _) = files.made(&document, &overlay)?;
    let (spec, findings) = model(app, &laid).map_err(at(wanted.document))?;

    let before = files.before()?.map(|root| {
        let (spec, _) = model(app, &root)?;
        Ok::<_, String>((root, spec))
    });
    let before = before.transpose()?;
    let before = before.as_ref().map(|(root, spec)| Read { root, spec });
    let register = read(&root.join("specs/ASSUMPTIONS.md"))?;
    // Only the vendor's document can confirm an assumption. The overlay can't.
    let assumed = before.map(|it| diff::assumed(it.root, &vendors, &register));
    let assumed = assumed.unwrap_or_default();
    // A person may have removed actions from the overlay of an adopted document, so no action is derived again.
    let new = before.filter(|_| !is_known);
    let after = |root| Read { root, spec: &spec };
    let mut added = new.map_or(Vec::new(), |it| preserved(it, after(&laid), &assumed));
    if wanted.accept {
        added.extend(skips(&findings, &laid));
    }
    let overlay = overlay.with(&added).map_err(in_overlay)?;
    let (laid, _) = files.made(&document, &overlay)?;
    let changed = before.map(|it| diff::changed(it.root, &laid));
    let changed = changed.iter().flatten().map(|it| route(it)).collect();
    let others = other_ids(&wanted.folder, app)?;
    let served = without_handlers(before, after(&laid), &changed, &others);
    let overlay = overlay.with(&served).map_err(in_overlay)?;
    added.extend(served);

    let (laid, text) = files.made(&document, &overlay)?;
    let (spec, mut findings) = model(app, &laid)?;
    for it in crate::read::extensions(&vendors) {
        findings.note(&it.place, "this extension is in the vendor's document");
    }
    let report = Report {
        before,
        spec: &spec,
        findings: &findings,
        added: &added,
        gone: &gone,
        skips: &skips(&findings, &laid),
        assumed: &assumed,
        left_out: &client::left_out(&wanted.folder, &spec)?,
    };
    let (report, open) = (report.text(), decisions(&findings).len());
    Ok(Plan {
        files,
        document,
        overlay,
        spec: text,
        report,
        open,
    })
}

fn other_ids(root: &Path, app: &App) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for other in APPS.iter().filter(|it| it.name != app.name) {
        if let Some(document) = Files::new(root, other).before()? {
            let (spec, _) = model(other, &document)?;
            ids.extend(spec.operations.into_iter().map(|it| it.id));
        }
    }
    Ok(ids)
}

fn model(app: &'static App, document: &Node) -> Result<(Spec, Findings)> {
    let mut findings = Findings::default();
    match crate::read::read_document(app, document, &mut findings) {
        Some(spec) => Ok((spec, findings)),
        None => Err(findings.settled().err().unwrap_or_default()),
    }
}

fn place(operation: &Operation) -> String {
    step(&step("/paths", &operation.path), operation.method.key())
}

fn by_route(spec: &Spec) -> BTreeMap<String, &Operation> {
    let operations = spec.operations.iter();
    operations.map(|it| (route(&it.route()), it)).collect()
}

/// A route without the names of its path parameters.
fn route(route: &str) -> String {
    let mut parts = route.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |route, part| {
        let rest = part.split_once('}').map_or("", |it| it.1);
        format!("{route}{{}}{rest}")
    })
}
