//! The entries of `specs/ASSUMPTIONS.md` that a user of the SDK is concerned with.

use crate::Result;

/// One entry, its texts on one line each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) assumption: String,
    pub(super) wrong: String,
    pub(super) overridden: String,
}

/// The entries of all sections but that of the reference server.
pub(super) fn entries(markdown: &str) -> Result<Vec<Entry>> {
    let concerned = markdown
        .split("\n# ")
        .filter(|section| !section.starts_with("Reference server"));
    let mut entries = Vec::new();
    for text in concerned.flat_map(|section| section.split("\n## ").skip(1)) {
        let (heading, text) = text.split_once('\n').unwrap_or((text, ""));
        let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
        let part = |label: &str| {
            paragraph(text, label)
                .ok_or_else(|| format!("specs/ASSUMPTIONS.md: {id} has no `**{label}**: `"))
        };
        entries.push(Entry {
            id: id.to_owned(),
            title: title.to_owned(),
            assumption: part("Assumption")?,
            wrong: part("If it is wrong")?,
            overridden: part("How a caller overrides it")?,
        });
    }
    Ok(entries)
}

/// The paragraph that begins with a label, on one line and without it.
fn paragraph(text: &str, label: &str) -> Option<String> {
    let begin = format!("**{label}**: ");
    let text = text
        .split("\n\n")
        .find_map(|paragraph| paragraph.trim().strip_prefix(&begin))?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::{Entry, entries};

    const REGISTER: &str = "What this is.

# Specs

## A01 Ids
**Assumption**: ids are
chosen.

**Why**: names.

**If it is wrong**: nothing.

**How a caller overrides it**: no need.

# Reference server

## A70 Claims
Scope: reference server
";

    #[test]
    fn entries_are_read_without_those_of_the_reference_server() {
        let expected = Entry {
            id: "A01".into(),
            title: "Ids".into(),
            assumption: "ids are chosen.".into(),
            wrong: "nothing.".into(),
            overridden: "no need.".into(),
        };
        assert_eq!(entries(REGISTER), Ok(vec![expected]));

        let error = entries(&REGISTER.replace("**If it is wrong**", "If it is wrong")).unwrap_err();
        assert_eq!(
            error,
            "specs/ASSUMPTIONS.md: A01 has no `**If it is wrong**: `"
        );
    }
}
