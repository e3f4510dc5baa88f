//! The agreement between `specs/ASSUMPTIONS.md` and the files that cite it: each cited id has an entry, and a spec
//! cites each entry that concerns the specs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::node::Node;
use crate::{Result, at, settled};

const REGISTER: &str = "specs/ASSUMPTIONS.md";

/// The ids in the value of an `x-assumption`, which is an id or a list of ids.
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

/// An entry of the list of assumptions.
struct Entry {
    title: String,
    concerns_specs: bool,
}

/// Checks that each cited id has an entry, and that a spec cites each entry that concerns the specs.
pub(crate) fn check(root: &Path) -> Result<()> {
    let register = fs::read_to_string(root.join(REGISTER)).map_err(at(REGISTER))?;
    let (entries, mut wrong) = entries(&register);
    let mut cited = BTreeMap::new();
    for folder in ["sdk-core", "specs", "tests/reference-server"] {
        cite(root, Path::new(folder), &mut cited)?;
    }
    for (id, files) in &cited {
        if !entries.contains_key(id) {
            let files: Vec<_> = files.iter().map(|it| it.to_string_lossy()).collect();
            let files = files.join(", ");
            wrong.push(format!("{files}: {id} has no entry in {REGISTER}"));
        }
    }
    let is_spec =
        |it: &PathBuf| it.starts_with("specs") && it.extension().is_some_and(|kind| kind == "yaml");
    for (id, entry) in &entries {
        let is_used = cited.get(id).is_some_and(|it| it.iter().any(is_spec));
        if entry.concerns_specs && !is_used {
            wrong.push(format!(
                "{REGISTER}: {id} ({}) is the `x-assumption` of no spec element and has no `Scope:` line",
                entry.title
            ));
        }
    }
    settled(&wrong)
}

/// Adds the files at a path that cite assumptions, by the ids. Generated files do not count.
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

/// Two digits at least, so that `A4` stays a size of paper.
pub(crate) fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix('A').unwrap_or_default();
    digits.len() > 1 && digits.bytes().all(|it| it.is_ascii_digit())
}

fn entries(register: &str) -> (BTreeMap<String, Entry>, Vec<String>) {
    let (mut entries, mut wrong) = (BTreeMap::new(), Vec::new());
    for part in format!("\n{register}").split("\n## ").skip(1) {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
        let scopes: Vec<&str> = text.lines().filter(|it| it.starts_with("Scope:")).collect();
        for scope in &scopes {
            if !matches!(
                scope.trim_end(),
                "Scope: runtime" | "Scope: reference server"
            ) {
                wrong.push(format!(
                    "{REGISTER}: `{scope}` is neither `Scope: runtime` nor `Scope: reference server`"
                ));
            }
        }
        let entry = Entry {
            title: title.to_owned(),
            concerns_specs: scopes.is_empty(),
        };
        if is_id(id) && entries.insert(id.to_owned(), entry).is_some() {
            wrong.push(format!("{REGISTER}: {id} has two entries"));
        }
    }
    (entries, wrong)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn each_cited_id_has_an_entry_and_each_entry_is_cited() {
        let folder = std::env::temp_dir().join(format!("cited-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let register = "## A01 Ids\nAs A02.\n## A02 Retry\nScope: runtime\n";
        write("specs/ASSUMPTIONS.md", register);
        write("specs/crm.yaml", "x-assumption: A01");
        let cites = "// A01, A02; A4 and BA97 are no ids.";
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
