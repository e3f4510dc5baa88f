//! Checks `specs/ASSUMPTIONS.md` against the files that cite it. Each cited ID must have an entry, and a spec must cite each
//! entry that concerns the specs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::node::Node;
use crate::{Result, at, settled};

const FILE: &str = "specs/ASSUMPTIONS.md";

/// The IDs in the value of an `x-assumption`, which is an ID or a list of IDs.
pub(crate) fn ids(value: &Node) -> Vec<String> {
    value.texts()
}

/// Every `x-assumption` and `x-type-assumption` in a part of a spec.
pub(crate) fn of(node: &Node) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = node.items().iter().flat_map(of).collect();
    for (key, value) in node.members() {
        match key.as_str() {
            "x-assumption" | "x-type-assumption" => found.extend(ids(value)),
            _ => found.extend(of(value)),
        }
    }
    found
}

struct Entry {
    title: String,
    concerns_specs: bool,
}

pub(crate) fn check(root: &Path) -> Result<()> {
    let text = fs::read_to_string(root.join(FILE)).map_err(at(FILE))?;
    let (entries, mut wrong) = entries(&text);
    let mut cited = BTreeMap::new();
    for folder in ["sdk-core", "specs", "tests/reference-server"] {
        cite(root, Path::new(folder), &mut cited)?;
    }
    for (id, files) in &cited {
        if !entries.contains_key(id) {
            let files: Vec<_> = files.iter().map(|it| it.to_string_lossy()).collect();
            let files = files.join(", ");
            wrong.push(format!("{files}: {id} has no entry in {FILE}"));
        }
    }
    let is_spec =
        |it: &PathBuf| it.starts_with("specs") && it.extension().is_some_and(|kind| kind == "yaml");
    for (id, entry) in &entries {
        let is_used = cited.get(id).is_some_and(|it| it.iter().any(is_spec));
        if entry.concerns_specs && !is_used {
            wrong.push(format!(
                "{FILE}: {id} ({}) is the `x-assumption` of no spec element and has no `Scope:` line",
                entry.title
            ));
        }
    }
    settled(&wrong)
}

/// Adds the files below a path to the IDs that they cite, except generated files.
fn cite(root: &Path, path: &Path, cited: &mut BTreeMap<String, Vec<PathBuf>>) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kind = path.extension().unwrap_or_default();
    let file = root.join(path);
    if file.is_dir() && !matches!(&*name, "target" | "node_modules" | "generated") {
        let entries = fs::read_dir(&file).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let entries = entries.map_err(at(path.display()))?;
        let mut names: Vec<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        names.sort();
        for name in names {
            cite(root, &path.join(name), cited)?;
        }
    } else if ["rs", "md", "yaml"].iter().any(|it| kind == *it) && name != "operations.md" {
        let text = fs::read_to_string(&file).map_err(at(path.display()))?;
        let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        for id in words.filter(|it| is_id(it)).collect::<BTreeSet<_>>() {
            let files = cited.entry(id.to_owned()).or_default();
            files.push(path.to_owned());
        }
    }
    Ok(())
}

/// Whether a word is an ID, with at least two digits, so that the paper size `A4` is not an ID.
pub(crate) fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix('A').unwrap_or_default();
    digits.len() > 1 && digits.bytes().all(|it| it.is_ascii_digit())
}

fn entries(document: &str) -> (BTreeMap<String, Entry>, Vec<String>) {
    let (mut entries, mut wrong) = (BTreeMap::new(), Vec::new());
    for part in format!("\n{document}").split("\n## ").skip(1) {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
        let scopes: Vec<&str> = text.lines().filter(|it| it.starts_with("Scope:")).collect();
        for scope in &scopes {
            if !matches!(
                scope.trim_end(),
                "Scope: runtime" | "Scope: reference server"
            ) {
                wrong.push(format!(
                    "{FILE}: `{scope}` is neither `Scope: runtime` nor `Scope: reference server`"
                ));
            }
        }
        let entry = Entry {
            title: title.to_owned(),
            concerns_specs: scopes.is_empty(),
        };
        if is_id(id) && entries.insert(id.to_owned(), entry).is_some() {
            wrong.push(format!("{FILE}: {id} has two entries"));
        }
    }
    (entries, wrong)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn uncited_entries_and_unknown_ids_are_reported() {
        let folder = std::env::temp_dir().join(format!("cited-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let register = "## A01 Ids\nAs A02.\n## A02 Retry\nScope: runtime\n";
        write("specs/ASSUMPTIONS.md", register);
        write("specs/crm.yaml", "x-assumption: A01");
        let cites = "// A01, A02; A4 and BA97 are not IDs.";
        write("sdk-core/src/page.rs", cites);
        write("sdk-core/src/generated/page.rs", "// A96");
        write("tests/reference-server/src/lib.rs", "//! (A01)");
        assert_eq!(check(&folder), Ok(()));
        let register = "## A01 Ids\n## A01 Ids\n## A05 Stale\n## A06 Else\nScope: none\n";
        write("specs/ASSUMPTIONS.md", register);
        let lost = check(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            lost.unwrap_err(),
            "specs/ASSUMPTIONS.md: A01 has two entries\n\
             specs/ASSUMPTIONS.md: `Scope: none` is neither `Scope: runtime` nor `Scope: reference server`\n\
             sdk-core/src/page.rs: A02 has no entry in specs/ASSUMPTIONS.md\n\
             specs/ASSUMPTIONS.md: A05 (Stale) is the `x-assumption` of no spec element and has no `Scope:` line"
        );
    }
}
