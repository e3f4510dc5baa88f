//! The files of an adoption: what the vendor wrote, what we say about it, and what codegen reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::overlay::Overlay;
use crate::node::Node;
use crate::{Result, at};

/// An overlay without actions, to begin with.
const EMPTY: &str = "\
# What is ours in the spec of this application, and what is corrected in its vendor's document, each with a reason.
overlay: 1.1.0
info: {title: Ours, version: \"1\"}
actions: []
";

/// What a vendor's document is written in.
const KINDS: [&str; 2] = ["json", "yaml"];

fn kind(document: &str) -> &'static str {
    let is_json = document
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('{');
    KINDS[usize::from(!is_json)]
}

/// How the first line of a spec begins that was made here.
const MADE: &str = "# Made by `cargo xtask adopt`";

/// The files of one application below a folder `specs`.
#[derive(Debug)]
pub(super) struct Files {
    specs: PathBuf,
    app: String,
}

impl Files {
    pub(super) fn new(specs: &Path, app: &str) -> Self {
        Self {
            specs: specs.to_owned(),
            app: app.to_owned(),
        }
    }

    /// All that have a vendor's document or an overlay, or a spec that says it is made of them.
    fn all(specs: &Path) -> Result<Vec<Self>> {
        let mut names = BTreeSet::new();
        for folder in ["", "vendor", "overlays"].map(|it| specs.join(it)) {
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.map_err(at(folder.display()))?.path();
                let is_yaml = path.extension().is_some_and(|it| it == "yaml");
                let is_made = |text: String| {
                    text.starts_with(MADE)
                        || text.lines().any(|line| line.starts_with("x-adopted-from:"))
                };
                if folder != *specs || is_yaml && is_made(read(&path)?) {
                    let stem = path.file_stem().unwrap_or_default();
                    names.insert(stem.to_string_lossy().into_owned());
                }
            }
        }
        Ok(names.iter().map(|app| Self::new(specs, app)).collect())
    }

    pub(super) fn spec(&self) -> PathBuf {
        self.specs.join(format!("{}.yaml", self.app))
    }

    pub(super) fn overlay(&self) -> PathBuf {
        self.specs
            .join("overlays")
            .join(format!("{}.yaml", self.app))
    }

    fn vendor(&self, kind: &str) -> PathBuf {
        self.specs
            .join("vendor")
            .join(format!("{}.{kind}", self.app))
    }

    /// The text of the overlay; one without actions if there is none yet.
    pub(super) fn overlay_text(&self) -> Result<String> {
        let path = self.overlay();
        if path.exists() {
            read(&path)
        } else {
            Ok(EMPTY.to_owned())
        }
    }

    /// The spec that a document and an overlay make, and its text.
    pub(super) fn made(&self, document: &str, overlay: &str) -> Result<(Node, String)> {
        let node = Node::parse(document).map_err(at(format!("the document of {}", self.app)))?;
        let laid = Overlay::parse(overlay).and_then(|it| it.apply(&node));
        let laid = laid.map_err(at(self.overlay().display()))?;
        let from = format!("vendor/{}.{}", self.app, kind(document));
        let laid = adopted(laid, &from);
        let text = serde_yaml_ng::to_string(&laid).map_err(at("the spec"))?;
        let head = format!(
            "{MADE} from {from} and overlays/{}.yaml. Change the overlay, not this file.\n",
            self.app
        );
        Ok((laid, head + &text))
    }

    /// What the document that was adopted last makes with an overlay of today, if it is there.
    pub(super) fn former(&self, overlay: &str) -> Result<Option<Node>> {
        let paths = KINDS.map(|kind| self.vendor(kind));
        let Some(path) = paths.iter().find(|it| it.exists()) else {
            return Ok(None);
        };
        let node = Node::parse(&read(path)?).map_err(at(path.display()))?;
        let (laid, _) = Overlay::parse(overlay)?.loose(&node)?;
        Ok(Some(adopted(laid, "")))
    }

    /// Writes all three.
    pub(super) fn write(&self, document: &str, overlay: &str, spec: &str) -> Result<()> {
        let kind = kind(document);
        for other in KINDS.iter().filter(|other| **other != kind) {
            let outdated = self.vendor(other);
            if outdated.exists() {
                fs::remove_file(&outdated).map_err(at(outdated.display()))?;
            }
        }
        write(&self.vendor(kind), document)?;
        self.write_overlay(overlay)?;
        write(&self.spec(), spec)
    }

    pub(super) fn write_overlay(&self, overlay: &str) -> Result<()> {
        write(&self.overlay(), overlay)
    }

    /// The text of the spec that the document and the overlay make that are there.
    pub(super) fn remade(&self) -> Result<String> {
        let [json, yaml] = KINDS.map(|kind| self.vendor(kind));
        let path = match (json.exists(), yaml.exists()) {
            (true, false) => json,
            (false, true) => yaml,
            (both, _) => {
                let why = if both {
                    "a document stands beside it for the same application; remove one"
                } else {
                    "the vendor's document is missing; put it back, or adopt it again"
                };
                return Err(format!("{}: {why}", json.display()));
            }
        };
        let (_, made) = self.made(&read(&path)?, &read(&self.overlay())?)?;
        Ok(made)
    }
}

/// The reader takes what a vendor writes, and knows one by this.
fn adopted(mut laid: Node, from: &str) -> Node {
    if let Node::Object(members) = &mut laid {
        members.insert("x-adopted-from".to_owned(), Node::Text(from.to_owned()));
    }
    laid
}

/// Whether every spec in this folder is what its vendor's document and its overlay make.
pub(super) fn check(specs: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    for files in Files::all(specs)? {
        match files.remade().and_then(|made| Ok(read(&files.spec())? == made)) {
            Ok(true) => {}
            Ok(false) => wrong.push(format!(
                "{}: it is not what the vendor's document and the overlay make; run `cargo xtask adopt`",
                files.spec().display()
            )),
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{EMPTY, Files, check, read};

    /// A folder of its own, which goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("adopt-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const DOCUMENT: &str = "{\"openapi\": \"3.1.0\",   \"paths\": {\"/z\": {}, \"/a\": {}}, \"info\": {\"version\": \"1\"}}";

    #[test]
    fn the_document_stays_as_it_came_and_the_spec_says_what_made_it() {
        let folder = Folder::new("made");
        let files = Files::new(&folder.0, "zoo");
        let (_, spec) = files.made(DOCUMENT, EMPTY).unwrap();
        files.write(DOCUMENT, EMPTY, &spec).unwrap();
        assert_eq!(read(&folder.0.join("vendor/zoo.json")).unwrap(), DOCUMENT);
        assert_eq!(
            read(&files.spec()).unwrap(),
            "# Made by `cargo xtask adopt` from vendor/zoo.json and overlays/zoo.yaml. Change the overlay, not this file.\n\
             openapi: 3.1.0\npaths:\n  /z: {}\n  /a: {}\ninfo:\n  version: '1'\nx-adopted-from: vendor/zoo.json\n"
        );

        // The next version comes as YAML.
        files.write("openapi: 3.1.0\n", EMPTY, &spec).unwrap();
        assert!(!folder.0.join("vendor/zoo.json").exists());
        assert!(folder.0.join("vendor/zoo.yaml").exists());
    }

    #[test]
    fn a_part_that_is_missing_or_stands_there_twice_is_found() {
        let folder = Folder::new("parts");
        let files = Files::new(&folder.0, "zoo");
        let (_, spec) = files.made(DOCUMENT, EMPTY).unwrap();
        for (part, twice, why) in [
            ("vendor/zoo.json", false, "the vendor's document is missing"),
            ("vendor/zoo.yaml", true, "for the same application"),
            ("overlays/zoo.yaml", false, "No such file"),
            ("zoo.yaml", false, "No such file"),
        ] {
            files.write(DOCUMENT, EMPTY, &spec).unwrap();
            let path = folder.0.join(part);
            if twice {
                std::fs::copy(files.spec(), &path).unwrap();
            } else {
                std::fs::remove_file(&path).unwrap();
            }
            let wrong = check(&folder.0).unwrap_err();
            assert!(wrong.contains(why), "{part}: {wrong}");
        }
        // A spec alone says what it is made of.
        for part in ["vendor", "overlays"] {
            std::fs::remove_dir_all(folder.0.join(part)).unwrap();
        }
        super::write(&files.spec(), "openapi: 3.1.0\nx-adopted-from: v\n").unwrap();
        let wrong = check(&folder.0).unwrap_err();
        assert!(wrong.contains("document is missing"), "{wrong}");
    }

    #[test]
    fn a_spec_that_its_parts_do_not_make_is_found() {
        let folder = Folder::new("check");
        let check = || check(&folder.0);
        for (app, edit) in [("zoo", ""), ("farm", "# edited\n")] {
            let files = Files::new(&folder.0, app);
            let (_, spec) = files.made(DOCUMENT, EMPTY).unwrap();
            assert_eq!(check(), Ok(()));
            files.write(DOCUMENT, EMPTY, &(spec + edit)).unwrap();
        }
        let wrong = check().unwrap_err();
        assert!(
            wrong.contains("farm.yaml: it is not what the vendor's document and the overlay make"),
            "{wrong}"
        );
        assert!(!wrong.contains("zoo.yaml"), "{wrong}");

        let stale = EMPTY.replace("[]", "[{target: \"$.paths['/y']\", remove: true}]");
        Files::new(&folder.0, "zoo").write_overlay(&stale).unwrap();
        let wrong = check().unwrap_err();
        assert!(
            wrong.contains("action 1 at `$.paths['/y']`: its target matches nothing"),
            "{wrong}"
        );
    }
}
