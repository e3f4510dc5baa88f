//! Assumptions that no spec rests on any more: they leave the register, and a history keeps them with what was seen.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::answer::Answer;
use super::spec::{read, write};
use crate::node::Node;
use crate::{Result, assumptions, at};

const HEAD: &str = "\
# Settled assumptions
What was assumed until a document showed it, and what the document showed. The ids are never given again.
";

/// Moves the settled entries of the register beside these specs; `source` is the document that settled them.
pub(super) fn settle(specs: &Path, answers: &[Answer], source: &str) -> Result<Vec<String>> {
    let (register, history) = (specs.join("ASSUMPTIONS.md"), specs.join("HISTORY.md"));
    if !register.exists() {
        return Ok(Vec::new());
    }
    let mut used = BTreeSet::new();
    for entry in fs::read_dir(specs).map_err(at(specs.display()))? {
        let path = entry.map_err(at(specs.display()))?.path();
        if path.extension().is_some_and(|it| it == "yaml") {
            used.extend(assumptions::of(&Node::parse(&read(&path)?)?));
        }
    }
    let text = read(&register)?;
    let (mut kept, mut past) = (String::new(), Vec::new());
    for section in sections(&text) {
        let id = section
            .strip_prefix("## ")
            .and_then(|it| it.split([' ', '\n']).next());
        let answer = answers
            .iter()
            .find(|it| Some(&*it.id) == id && it.settled && !used.contains(&it.id));
        // What concerns the runtime rests on no spec, and goes on.
        match answer.filter(|_| !section.contains("\nScope: ")) {
            None => kept.push_str(section),
            Some(answer) => past.push((answer, section)),
        }
    }
    if past.is_empty() {
        return Ok(Vec::new());
    }
    let mut settled = if history.exists() {
        read(&history)?
    } else {
        HEAD.to_owned()
    };
    for (answer, section) in &past {
        let (outcome, section) = (answer.outcome, section.trim_end());
        let head = format!("\n{section}\n\n**Settled** by {source}: {outcome}.\n");
        let seen = answer.evidence.iter().map(|it| format!("- {it}\n"));
        settled.extend(std::iter::once(head).chain(seen));
    }
    write(&history, &settled)?;
    write(&register, &(kept.trim_end().to_owned() + "\n"))?;
    Ok(past.iter().map(|(answer, _)| answer.id.clone()).collect())
}

/// The text in pieces, each of which begins with a heading.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n#").map(|(at, _)| at + 1).collect();
    starts.insert(0, 0);
    starts.push(text.len());
    starts.windows(2).map(|it| &text[it[0]..it[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::settle;
    use crate::adopt::answer::Answer;
    use crate::adopt::spec::{read, write};

    #[test]
    fn what_no_spec_rests_on_goes_into_the_history_once() {
        let folder = std::env::temp_dir().join(format!("settled-{}", std::process::id()));
        let answer = |id: &str| Answer {
            id: id.to_owned(),
            title: String::new(),
            outcome: "confirmed",
            settled: id != "A03",
            evidence: vec!["seen".to_owned()],
        };
        let answers = ["A01", "A02", "A03", "A40"].map(answer);
        assert_eq!(settle(&folder, &answers, "Zoo 2").unwrap(), [""; 0]);

        let register = "Head.\n\n# Specs\n\n## A01 Ids\nOne.\n\n## A02 Tokens\nTwo.\n\n## A03 Part\n\n# Runtime\n\n## A40 Keys\nScope: runtime\nThree.\n";
        write(&folder.join("ASSUMPTIONS.md"), register).unwrap();
        write(
            &folder.join("zoo.yaml"),
            "paths: {/a: {get: {x-assumption: A02}}}",
        )
        .unwrap();
        assert_eq!(settle(&folder, &answers, "Zoo 2").unwrap(), ["A01"]);
        assert_eq!(settle(&folder, &answers, "Zoo 2").unwrap(), [""; 0]);
        let (left, history) = (
            read(&folder.join("ASSUMPTIONS.md")),
            read(&folder.join("HISTORY.md")),
        );
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(left.unwrap(), register.replace("## A01 Ids\nOne.\n\n", ""));
        let history = history.unwrap();
        let expected = "\n\n## A01 Ids\nOne.\n\n**Settled** by Zoo 2: confirmed.\n- seen\n";
        assert!(history.ends_with(&expected[1..]), "{history}");
    }
}
