//! The agreement between `specs/ASSUMPTIONS.md` and the specs: an assumption that the specs rest on has an
//! entry, and an entry that concerns the specs is referred to by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::node::Node;
use crate::{Result, at};

/// The ids in the value of an `x-assumption`, which is an id or a list of ids.
pub(crate) fn ids(value: &Node) -> Vec<String> {
    value.texts()
}

/// Every `x-assumption` and `x-type-assumption` of a spec.
pub(crate) fn of(document: &Node) -> BTreeSet<String> {
    walk(document, document, false)
}

/// Every assumption that one operation rests on: its own, and those of all that it refers to.
pub(crate) fn of_operation(document: &Node, operation: &Node) -> BTreeSet<String> {
    walk(document, operation, true)
}

fn walk(document: &Node, from: &Node, follow: bool) -> BTreeSet<String> {
    let mut walk = Walk {
        document,
        seen: BTreeSet::new(),
        found: BTreeSet::new(),
        follow,
    };
    walk.visit(from);
    walk.found
}

struct Walk<'a> {
    document: &'a Node,
    seen: BTreeSet<&'a str>,
    found: BTreeSet<String>,
    follow: bool,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, node: &'a Node) {
        for (name, value) in node.members() {
            match (name.as_str(), value) {
                ("x-assumption" | "x-type-assumption", _) => self.found.extend(ids(value)),
                ("$ref", Node::Text(target)) if self.follow => self.refer(target),
                _ => self.visit(value),
            }
        }
        node.items().iter().for_each(|item| self.visit(item));
    }

    fn refer(&mut self, target: &'a str) {
        if self.seen.insert(target)
            && let Some(node) = self.document.pointer(target.trim_start_matches('#'))
        {
            self.visit(node);
        }
    }
}

/// An entry of `ASSUMPTIONS.md`.
struct Entry {
    title: String,
    concerns_specs: bool,
}

/// Checks that what the specs (by path) rest on has an entry; otherwise says all that is wrong, a line each.
pub(crate) fn check(markdown: &str, specs: &BTreeMap<String, BTreeSet<String>>) -> Result<()> {
    let (entries, mut wrong) = entries(markdown);
    for (file, used) in specs {
        for id in used.iter().filter(|id| !entries.contains_key(*id)) {
            wrong.push(format!(
                "{file}: `x-assumption: {id}` has no entry in specs/ASSUMPTIONS.md"
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Where assumptions are referred to by their ids.
const CITED: [&str; 3] = ["sdk-core", "specs", "tests/reference-server"];

/// The files below a root that refer to assumptions, by the ids of these; what is generated of the register does not
/// count.
fn cited(root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut cited = BTreeMap::<_, BTreeSet<_>>::new();
    let mut open: Vec<_> = CITED.iter().map(|it| root.join(it)).collect();
    while let Some(path) = open.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = path.extension().unwrap_or_default();
        if path.is_dir() && !matches!(&*name, "target" | "node_modules" | "generated") {
            for entry in fs::read_dir(&path).map_err(at(path.display()))? {
                open.push(entry.map_err(at(path.display()))?.path());
            }
        } else if ["rs", "md", "yaml"].iter().any(|it| kind == *it) && name != "gaps.md" {
            let text = fs::read_to_string(&path).map_err(at(path.display()))?;
            let file = path.strip_prefix(root).unwrap_or(&path);
            for word in text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_') {
                if is_id(word) {
                    let files = cited.entry(word.to_owned()).or_default();
                    files.insert(file.display().to_string());
                }
            }
        }
    }
    Ok(cited)
}

/// Checks that nobody refers to an assumption without an entry, and that a spec rests on each that concerns them.
pub(crate) fn check_cited(root: &Path) -> Result<()> {
    let register = root.join("specs/ASSUMPTIONS.md");
    let (entries, _) = entries(&fs::read_to_string(&register).map_err(at(register.display()))?);
    let cited = cited(root)?;
    let lost = cited.iter().filter(|it| !entries.contains_key(it.0));
    let lost = lost.map(|(id, files)| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        format!(
            "{}: {id} has no entry in specs/ASSUMPTIONS.md",
            files.join(", ")
        )
    });
    let rests = |file: &String| {
        file.starts_with("specs/") && Path::new(file).extension().is_some_and(|it| it == "yaml")
    };
    let is_used = |id: &String| cited.get(id).is_some_and(|it| it.iter().any(rests));
    let unused = entries
        .iter()
        .filter(|(id, it)| it.concerns_specs && !is_used(id));
    let unused = unused.map(|(id, entry)| {
        format!(
            "specs/ASSUMPTIONS.md: {id} ({}) is the `x-assumption` of no spec element and has no `Scope:` line",
            entry.title
        )
    });
    let wrong: Vec<String> = lost.chain(unused).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Two digits at least, so that `A4` stays a size of paper.
pub(crate) fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix('A').unwrap_or_default();
    digits.len() > 1 && digits.bytes().all(|it| it.is_ascii_digit())
}

/// Whether a register has an entry for this one.
pub(crate) fn has(register: &str, id: &str) -> bool {
    entries(register).0.contains_key(id)
}

fn entries(markdown: &str) -> (BTreeMap<String, Entry>, Vec<String>) {
    let (mut entries, mut wrong) = (BTreeMap::<String, Entry>::new(), Vec::new());
    let mut current = None;
    for line in markdown.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
            if !is_id(id) {
                current = None;
                continue;
            }
            current = Some(id.to_owned());
            let entry = Entry {
                title: title.to_owned(),
                concerns_specs: true,
            };
            if entries.insert(id.to_owned(), entry).is_some() {
                wrong.push(format!("specs/ASSUMPTIONS.md: {id} has two entries"));
            }
        } else if matches!(line.trim(), "Scope: runtime" | "Scope: reference server")
            && let Some(entry) = current.as_ref().and_then(|id| entries.get_mut(id))
        {
            entry.concerns_specs = false;
        } else if line.starts_with("Scope:") {
            wrong.push(format!("specs/ASSUMPTIONS.md: `{line}` is neither `Scope: runtime` nor `Scope: reference server`"));
        }
    }
    (entries, wrong)
}

#[cfg(test)]
mod tests {
    use super::{check, check_cited, of, of_operation};
    use crate::node::Node;
    use std::collections::{BTreeMap, BTreeSet};

    const SPEC: &str = "
paths:
  /a:
    get:
      x-assumption: A01
      responses: {'200': {$ref: '#/components/responses/Page'}}
components:
  responses:
    Page: {x-assumption: [A02, A03]}
    Other: {x-assumption: A04}
";

    #[test]
    fn an_operation_rests_on_what_it_refers_to() {
        let tree = Node::parse(SPEC).unwrap();
        let ids = |ids: BTreeSet<String>| ids.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(ids(of(&tree)), "A01 A02 A03 A04");
        let operation = of_operation(&tree, tree.pointer("/paths/~1a/get").unwrap());
        assert_eq!(ids(operation), "A01 A02 A03");
    }

    #[test]
    fn what_a_spec_rests_on_has_an_entry() {
        let tree = Node::parse(SPEC).unwrap();
        let specs = BTreeMap::from([("specs/crm.yaml".to_owned(), of(&tree))]);
        let agreed = "## A01 Ids\n## A02 Pages\n## A03 Items\n## A04 Other\n";
        assert_eq!(check(agreed, &specs), Ok(()));
        assert_eq!(
            check(&agreed.replace("A04", "A05"), &specs).unwrap_err(),
            "specs/crm.yaml: `x-assumption: A04` has no entry in specs/ASSUMPTIONS.md"
        );
    }

    #[test]
    fn nobody_refers_to_what_was_lost_and_each_entry_is_used() {
        let folder = std::env::temp_dir().join(format!("cited-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let register = "## A01 Ids\nAs A02.\n## A02 Retry\nScope: runtime\n";
        write("specs/ASSUMPTIONS.md", register);
        write("specs/crm.yaml", "x-assumption: A01");
        write(
            "sdk-core/src/page.rs",
            "// A01, A02; A4 and BA97 are no ids.",
        );
        write("sdk-core/src/generated/page.rs", "// A96");
        write("tests/reference-server/src/lib.rs", "//! (A01)");
        assert_eq!(check_cited(&folder), Ok(()));
        write("specs/ASSUMPTIONS.md", "## A01 Ids\n## A05 Stale\n");
        let lost = check_cited(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            lost.unwrap_err(),
            "sdk-core/src/page.rs: A02 has no entry in specs/ASSUMPTIONS.md\n\
             specs/ASSUMPTIONS.md: A05 (Stale) is the `x-assumption` of no spec element and has no `Scope:` line"
        );
    }
}
