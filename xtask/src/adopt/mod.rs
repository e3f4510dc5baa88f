//! A vendor's document taken over: kept as it came, with an overlay of ours, and the spec that both make. What a spec
//! means is read elsewhere; here is what there is to decide about it, and what it says of our assumptions.

mod document;
mod overlay;
mod propose;
mod report;
mod spec;
#[cfg(test)]
mod tests;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::overlay::Overlay;
use self::propose::{Action, Name, Named, Names};
use self::propose::{appended, decisions, derived, named, without, written};
use self::report::Report;
use self::spec::{Files, read};
use crate::diff::{self, Assumption};
use crate::findings::Findings;
use crate::model::app::APPS;
use crate::model::{App, Operation, Spec};
use crate::node::Node;
use crate::write::client;
use crate::{Result, assumptions, at};

const USAGE: &str = "\
  adopt APP DOCUMENT [--root DIR] [--before SPEC] [--accept]
                    take over a vendor's document: specs/vendor/APP, specs/overlays/APP.yaml and specs/APP.yaml
  adopt --check     say whether each spec is what its vendor's document and its overlay make";

/// What is asked for.
struct Wanted<'a> {
    app: &'a str,
    document: &'a str,
    /// The spec to compare with; the one that is there, unless told otherwise.
    before: Option<PathBuf>,
    accept: bool,
    specs: PathBuf,
}

/// Whether every adopted spec is what its vendor's document and its overlay make.
pub(crate) fn check(root: &Path) -> Result<()> {
    spec::check(&root.join(APPS[0].specs))
}

/// The text of the spec that the vendor's document of an application makes with its overlay.
pub(crate) fn made(root: &Path, app: &App) -> Result<String> {
    Files::new(&root.join(app.specs), app.name).remade()
}

/// Takes a document over, or checks all that were.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    if arguments == ["--check"] {
        check(root)?;
        println!("adopted specs are up to date");
        return Ok(());
    }
    adopt(root, &wanted(root, arguments)?)
}

fn wanted<'a>(root: &Path, arguments: &[&'a str]) -> Result<Wanted<'a>> {
    let (mut named, mut accept) = (Vec::new(), false);
    let (mut folder, mut before) = (root.to_owned(), None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || {
            rest.next()
                .ok_or_else(|| format!("`{argument}` needs a value"))
        };
        match *argument {
            "--accept" => accept = true,
            "--root" => folder = PathBuf::from(value()?),
            "--before" => before = Some(PathBuf::from(value()?)),
            name if name.starts_with("--") => {
                return Err(format!("unknown option `{name}`\n{USAGE}"));
            }
            name => named.push(name),
        }
    }
    let [app, document] = named[..] else {
        return Err(format!("usage:\n{USAGE}"));
    };
    let specs = folder.join("specs");
    Ok(Wanted {
        app,
        document,
        before,
        accept,
        specs,
    })
}

/// Writes what can be written, and returns what there is to say; an error asks for decisions.
fn adopt(root: &Path, wanted: &Wanted<'_>) -> Result<()> {
    let app = App::named(wanted.app);
    let app = app.ok_or_else(|| format!("there is no application `{}`", wanted.app))?;
    let files = Files::new(&wanted.specs, wanted.app);
    let document = read(Path::new(wanted.document))?;
    let vendors = Node::parse(&document).map_err(at(wanted.document))?;
    let before = wanted.before.clone().unwrap_or_else(|| files.spec());
    let parsed = |path: &Path| Node::parse(&read(path)?).map_err(at(path.display()));
    let before = before.exists().then(|| parsed(&before)).transpose()?;

    let overlay = files.overlay_text()?;
    let (overlay, gone) = fitting(&files, &overlay, &vendors)?;
    // What a person took out of the overlay since is not in use any more.
    let is_adopted = before
        .as_ref()
        .is_some_and(|it| it.get("x-adopted-from").is_some());
    let former = (is_adopted && wanted.before.is_none()).then(|| files.former(&overlay));
    let known = former.transpose()?.flatten().or_else(|| before.clone());

    let made = files.made(&document, &overlay);
    if made.is_err() {
        // Actions are numbered as they stand there.
        files.write_overlay(&overlay)?;
        for action in &gone {
            eprintln!(
                "{}: taken out of the overlay, since it is gone",
                action.target
            );
        }
    }
    let (laid, _) = made?;
    let (spec, findings) = model(app, &laid);
    if spec.is_none() {
        return findings.settled().map_err(at(wanted.document));
    }
    let mut accepted = Vec::new();
    if wanted.accept {
        let decisions = decisions(&findings, &laid);
        accepted.extend(decisions.into_iter().flat_map(|it| it.actions));
    }
    let overlay = appended(&overlay, &accepted)?;
    let (laid, _) = files.made(&document, &overlay)?;

    // The vendor's word counts for what is assumed, not ours.
    let register = read(&root.join("specs/ASSUMPTIONS.md"))?;
    let assumed = before.as_ref().map_or(Vec::new(), |before| {
        diff::assumed(before, &vendors, &register)
    });
    let unsaid = known.as_ref().map(|known| open(known, &assumed));
    let unsaid = unsaid.unwrap_or_default();
    let was = known.as_ref().and_then(|root| model(app, root).0);
    let is = model(app, &laid).0;
    let (old, new) = (names(was.as_ref()), names(is.as_ref()));
    let named_as = |root, names| Named {
        root,
        names,
        open: &unsaid,
    };
    let known = known.as_ref().map(|root| named_as(root, &old));
    let after = named_as(&laid, &new);
    let changed = before.as_ref().map(|before| changed(before, &laid));
    let mut derived = derived(known, after, &changed.unwrap_or_default());
    if let (Some(was), Some(is)) = (&was, &is) {
        derived.extend(types::kept(was, is, &laid).into_iter().map(named));
    }
    let overlay = appended(&overlay, &derived)?;
    let (laid, text) = files.made(&document, &overlay)?;
    let (spec, mut findings) = model(app, &laid);
    idle(&overlay, &vendors, &mut findings)?;
    extensions(&vendors, &laid, &register, &mut findings);

    let decisions = decisions(&findings, &laid);
    let folder = wanted.specs.parent().unwrap_or(root);
    let left_out = spec.iter().map(|it| client::left_out(folder, it));
    let left_out = left_out.collect::<Result<Vec<_>>>()?.concat();
    let report = Report {
        spec: spec.as_ref(),
        before: before.as_ref(),
        laid: &laid,
        findings: &findings,
        derived: &derived,
        accepted: &accepted,
        gone: &gone,
        names: &names(before.as_ref().and_then(|it| model(app, it).0).as_ref()),
        decisions: &decisions,
        assumed: &assumed,
        left_out: &left_out,
    };
    print!("{report}");
    if !decisions.is_empty() {
        // The overlay alone: it is where a person goes on.
        files.write_overlay(&overlay)?;
        return Err(format!(
            "open decisions: {}; put actions for them into {}, or accept those that are proposed with --accept",
            decisions.len(),
            files.overlay().display()
        ));
    }
    files.write(&document, &overlay, &text)
}

/// The routes whose messages are others than before.
fn changed(before: &Node, after: &Node) -> BTreeSet<String> {
    let changed = diff::changed(before, after).into_iter();
    let routes = changed.filter_map(|it| {
        let (method, path) = it.split_once(' ')?;
        Some(document::route(method, path))
    });
    routes.collect()
}

/// The overlay without the actions that were derived of what is gone, and what they were.
fn fitting(files: &Files, overlay: &str, vendors: &Node) -> Result<(String, Vec<Action>)> {
    let loose = Overlay::parse(overlay).and_then(|it| it.loose(vendors));
    let fitting = loose.and_then(|(_, dead)| without(overlay, &dead));
    fitting.map_err(at(files.overlay().display()))
}

/// Notes the actions of a person that change nothing.
fn idle(overlay: &str, vendors: &Node, findings: &mut Findings) -> Result<()> {
    let written = written(overlay)?;
    let count = Node::parse(overlay)?.at("actions").items().len();
    let by_hand: Vec<usize> = (0..count).filter(|it| !written.contains_key(it)).collect();
    for target in Overlay::parse(overlay)?.idle(vendors, &by_hand)? {
        findings.note(
            &target,
            "the action changes nothing: the document says the same",
        );
    }
    Ok(())
}

/// Notes what the vendor says in our words, and refuses assumptions that nobody wrote down.
fn extensions(vendors: &Node, laid: &Node, register: &str, findings: &mut Findings) {
    for it in crate::read::standing(vendors) {
        findings.note(&it.place, "the vendor's document says this itself");
    }
    for it in crate::read::standing(laid) {
        for id in (it
            .key
            .ends_with("assumption")
            .then(|| assumptions::ids(it.value)))
        .into_iter()
        .flatten()
        {
            if !assumptions::has(register, &id) {
                let rule = format!("`{}: {id}` has no entry in specs/ASSUMPTIONS.md", it.key);
                findings.refuse(
                    &it.place,
                    rule,
                    "write one, or correct the id in the overlay",
                );
            }
        }
    }
}

/// By route, the assumptions that an operation rests on and of which the document says nothing.
fn open(before: &Node, assumed: &[Assumption]) -> BTreeMap<String, Vec<String>> {
    let mut open = BTreeMap::<String, Vec<String>>::new();
    for call in (document::Document { root: before }).calls() {
        let rests = |id: &str, place: &str| {
            before.pointer(place).is_some_and(|node| {
                assumptions::of_operation(before, node).contains(id)
                    && assumptions::reaches(before, call.raw, node)
            })
        };
        let unseen = |it: &&Assumption| {
            let mut places = it.places.iter();
            places.any(|(seen, place)| *seen == diff::Verdict::NotSeen && rests(&it.id, place))
        };
        let ids = assumed.iter().filter(unseen).map(|it| it.id.clone());
        let ids: Vec<String> = ids.collect();
        if !ids.is_empty() {
            open.insert(call.route(), ids);
        }
    }
    open
}

fn model(app: &'static App, document: &Node) -> (Option<Spec>, Findings) {
    let mut findings = Findings::default();
    let spec = crate::read::read(app, document, &mut findings);
    (spec, findings)
}

/// What the operations of a spec are called.
fn names(spec: Option<&Spec>) -> Names {
    let operations = spec.into_iter().flat_map(|spec| &spec.operations);
    let name = |it: &Operation| Name {
        id: it.id.clone(),
        group: it.group.clone(),
        method: it.name.clone(),
    };
    operations
        .map(|it| (document::route(it.method.key(), &it.path), name(it)))
        .collect()
}
