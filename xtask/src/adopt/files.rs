//! The files of an adoption: the vendor's document, the overlay of this workspace, and the spec that codegen reads.

use std::fs;
use std::path::{Path, PathBuf};

use super::overlay::Overlay;
use crate::model::App;
use crate::node::Node;
use crate::{Result, at};

const EMPTY: &str = "\
# Additions to the vendor's document and corrections of it, each with a reason.
overlay: 1.1.0
info: {title: Ours, version: \"1\"}
actions: []
";

/// The formats of a vendor's document.
const KINDS: [&str; 2] = ["json", "yaml"];

#[derive(Debug)]
pub(super) struct Files {
    app: &'static str,
    specs: PathBuf,
}

impl Files {
    pub(super) fn new(root: &Path, app: &App) -> Self {
        let (app, specs) = (app.name, root.join(app.specs));
        Self { app, specs }
    }

    fn spec(&self) -> PathBuf {
        self.specs.join(format!("{}.yaml", self.app))
    }

    pub(super) fn overlay_path(&self) -> PathBuf {
        let name = format!("overlays/{}.yaml", self.app);
        self.specs.join(name)
    }

    fn vendor(&self, kind: &str) -> PathBuf {
        let name = format!("vendor/{}.{kind}", self.app);
        self.specs.join(name)
    }

    /// The path of the adopted vendor's document.
    pub(super) fn adopted(&self) -> Option<PathBuf> {
        let documents = KINDS.map(|kind| self.vendor(kind));
        documents.into_iter().find(|it| it.exists())
    }

    /// Whether this document is the adopted document, byte for byte.
    pub(super) fn has(&self, document: &str) -> Result<bool> {
        let adopted = self.adopted().map(|path| read(&path)).transpose()?;
        Ok(adopted.is_some_and(|it| it == document))
    }

    /// The current spec.
    pub(super) fn before(&self) -> Result<Option<Node>> {
        let path = self.spec();
        let parsed = || Node::parse(&read(&path)?).map_err(at(path.display()));
        path.exists().then(parsed).transpose()
    }

    pub(super) fn overlay(&self) -> Result<Overlay> {
        let path = self.overlay_path();
        let text = path.exists().then(|| read(&path)).transpose()?;
        Overlay::parse(text.as_deref().unwrap_or(EMPTY)).map_err(at(path.display()))
    }

    /// The spec from a document and an overlay, and its text.
    pub(super) fn made(&self, document: &str, overlay: &Overlay) -> Result<(Node, String)> {
        let name = self.app;
        let node = Node::parse(document).map_err(at(format!("the document of {name}")))?;
        let mut laid = overlay
            .apply(&node)
            .map_err(at(self.overlay_path().display()))?;
        let from = format!("vendor/{name}.{}", kind(document));
        // The reader recognizes a vendor's document by this field.
        if let Node::Object(members) = &mut laid {
            members.insert("x-adopted-from".to_owned(), Node::Text(from.clone()));
        }
        let text = serde_yaml_ng::to_string(&laid).map_err(at("the spec"))?;
        let head = format!(
            "# Made by `cargo xtask adopt` from {from} and overlays/{name}.yaml. Change the overlay, not this file.\n"
        );
        Ok((laid, head + &text))
    }

    pub(super) fn remade(&self) -> Result<String> {
        let path = self.adopted().unwrap_or_else(|| self.vendor(KINDS[0]));
        let document = read(&path)?;
        Ok(self.made(&document, &self.overlay()?)?.1)
    }

    /// Checks that the spec of an adopted document matches the document and the overlay.
    pub(super) fn check(&self) -> Result<()> {
        let path = self.spec();
        let spec = path.exists().then(|| read(&path)).transpose()?;
        let names_it = |text: &String| text.lines().any(|line| line.starts_with("x-adopted-from:"));
        let is_adopted = self.adopted().is_some()
            || self.overlay_path().exists()
            || spec.as_ref().is_some_and(names_it);
        if is_adopted && spec.as_ref() != Some(&self.remade()?) {
            let problem =
                "it does not match the vendor's document and the overlay; run `cargo xtask adopt`";
            return Err(format!("{}: {problem}", path.display()));
        }
        Ok(())
    }

    pub(super) fn write(&self, document: &str, overlay: &Overlay, spec: &str) -> Result<()> {
        let kind = kind(document);
        for outdated in KINDS.iter().filter(|it| **it != kind) {
            let outdated = self.vendor(outdated);
            if outdated.exists() {
                fs::remove_file(&outdated).map_err(at(outdated.display()))?;
            }
        }
        write(&self.vendor(kind), document)?;
        self.write_overlay(overlay)?;
        write(&self.spec(), spec)
    }

    pub(super) fn write_overlay(&self, overlay: &Overlay) -> Result<()> {
        write(&self.overlay_path(), &overlay.text)
    }
}

fn kind(document: &str) -> &'static str {
    let text = document.trim_start_matches('\u{feff}').trim_start();
    KINDS[usize::from(!text.starts_with('{'))]
}

pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(at(path.display()))
}

pub(super) fn write(path: &Path, content: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(at(folder.display()))?;
    }
    fs::write(path, content).map_err(at(path.display()))
}
