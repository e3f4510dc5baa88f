//! The agreement between `specs/ASSUMPTIONS.md` and the specs: an assumption that the specs rest on has an
//! entry, and an entry that concerns the specs is referred to by one.

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml_ng::Value;

use crate::codegen::{Method, Result};

/// The ids in the value of an `x-assumption`, which is an id or a list of ids.
pub(crate) fn ids(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = value
        .and_then(Value::as_sequence)
        .map(Vec::as_slice)
        .unwrap_or_default();
    value.into_iter().chain(list).filter_map(Value::as_str)
}

/// Every `x-assumption` and `x-type-assumption` of a spec.
pub(crate) fn of(tree: &Value) -> BTreeSet<String> {
    walk(tree, Some(tree), false)
}

/// Every assumption that one operation rests on: its own, and those of all that it refers to.
pub(crate) fn of_operation(tree: &Value, path: &str, method: Method) -> BTreeSet<String> {
    let operation = tree
        .get("paths")
        .and_then(|paths| paths.get(path)?.get(method.key()));
    walk(tree, operation, true)
}

fn walk(tree: &Value, from: Option<&Value>, follow: bool) -> BTreeSet<String> {
    let mut walk = Walk {
        tree,
        seen: BTreeSet::new(),
        found: BTreeSet::new(),
        follow,
    };
    if let Some(node) = from {
        walk.visit(node);
    }
    walk.found
}

struct Walk<'a> {
    tree: &'a Value,
    seen: BTreeSet<&'a str>,
    found: BTreeSet<String>,
    follow: bool,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, node: &'a Value) {
        match node {
            Value::Mapping(members) => {
                for (name, value) in members {
                    match (name.as_str(), value) {
                        (Some("x-assumption" | "x-type-assumption"), _) => {
                            self.found.extend(ids(Some(value)).map(str::to_owned));
                        }
                        (Some("$ref"), Value::String(target)) if self.follow => self.refer(target),
                        _ => self.visit(value),
                    }
                }
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.visit(item)),
            _ => {}
        }
    }

    fn refer(&mut self, target: &'a str) {
        if !self.seen.insert(target) {
            return;
        }
        let mut node = Some(self.tree);
        for step in target.trim_start_matches("#/").split('/') {
            node = node.and_then(|node| node.get(step));
        }
        if let Some(node) = node {
            self.visit(node);
        }
    }
}

/// An entry of `ASSUMPTIONS.md`.
struct Entry {
    title: String,
    concerns_specs: bool,
}

/// Checks that the entries and the specs (by path) agree; otherwise says all that is wrong, a line each.
pub(crate) fn check(markdown: &str, specs: &BTreeMap<String, BTreeSet<String>>) -> Result<()> {
    let (entries, mut wrong) = entries(markdown);
    for (file, used) in specs {
        for id in used.iter().filter(|id| !entries.contains_key(*id)) {
            wrong.push(format!(
                "{file}: `x-assumption: {id}` has no entry in specs/ASSUMPTIONS.md"
            ));
        }
    }
    for (id, entry) in &entries {
        let used = specs.values().any(|ids| ids.contains(id));
        if entry.concerns_specs && !used {
            wrong.push(format!(
                "specs/ASSUMPTIONS.md: {id} ({}) is the `x-assumption` of no spec element and has no `Scope:` line",
                entry.title
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

fn entries(markdown: &str) -> (BTreeMap<String, Entry>, Vec<String>) {
    let (mut entries, mut wrong) = (BTreeMap::<String, Entry>::new(), Vec::new());
    let mut current = None;
    for line in markdown.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
            let is_id = id.strip_prefix('A').is_some_and(|digits| {
                !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
            });
            if !is_id {
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
    use super::{check, of, of_operation};
    use crate::codegen::Method;
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
        let tree = serde_yaml_ng::from_str(SPEC).unwrap();
        let ids = |ids: BTreeSet<String>| ids.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(ids(of(&tree)), "A01 A02 A03 A04");
        let operation = of_operation(&tree, "/a", Method::Get);
        assert_eq!(ids(operation), "A01 A02 A03");
    }

    #[test]
    fn both_sides_must_have_an_assumption() {
        let tree = serde_yaml_ng::from_str(SPEC).unwrap();
        let specs = BTreeMap::from([("specs/crm.yaml".to_owned(), of(&tree))]);
        let agreed =
            "## A01 Ids\n## A02 Pages\n## A03 Items\n## A04 Other\n## A40 Retry\nScope: runtime\n";
        assert_eq!(check(agreed, &specs), Ok(()));

        let other = "## A01 Ids\n## A02 Pages\n## A03 Items\n## A05 Stale\n";
        assert_eq!(
            check(other, &specs).unwrap_err(),
            "specs/crm.yaml: `x-assumption: A04` has no entry in specs/ASSUMPTIONS.md\n\
             specs/ASSUMPTIONS.md: A05 (Stale) is the `x-assumption` of no spec element and has no `Scope:` line"
        );
    }
}
