//! What leads from one text of this repository to another arrives: files, their headings, and the pages of the guide.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// All Markdown files, but for what tools put there.
fn markdown() -> Vec<PathBuf> {
    fn walk(folder: &Path, all: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if path.is_dir() {
                let is_ours = !name.starts_with('.')
                    && name != "node_modules"
                    && !path.join("CACHEDIR.TAG").exists();
                if is_ours {
                    walk(&path, all);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                all.push(path);
            }
        }
    }
    let mut all = Vec::new();
    walk(root(), &mut all);
    all
}

/// A text without its code.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let outside = line.split('`').step_by(2);
            prose.push_str(&outside.collect::<Vec<_>>().join(""));
            prose.push('\n');
        }
    }
    prose
}

/// Where its links lead, also those that have a name.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let inline = prose.split("](").skip(1);
    let inline = inline.filter_map(|rest| rest.split([')', ' ', '\n']).next());
    let named = prose.lines().filter_map(|line| {
        let (name, target) = line.strip_prefix('[')?.split_once("]: ")?;
        (!name.contains(']')).then_some(target.trim())
    });
    inline.chain(named).map(str::to_owned).collect()
}

/// Whether a target is for rustdoc or elsewhere, and not a file.
fn is_foreign(target: &str) -> bool {
    target.contains("::") || target.contains("://") || target.starts_with("mailto:")
}

/// The anchors of the headings, as hosts make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut in_code = false;
    let mut all = BTreeSet::new();
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if in_code || heading == line || !heading.starts_with(' ') {
            continue;
        }
        // Of a link in a heading, its text.
        let heading: String = heading
            .split("](")
            .enumerate()
            .map(|(at, part)| match part.split_once(')') {
                Some((_, rest)) if at > 0 => rest,
                _ => part,
            })
            .collect();
        let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
        let slug: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        let slug = slug.replace(' ', "-");
        // The second one of a name gets a number.
        let again = (1..).map(|number| format!("{slug}-{number}"));
        let mut names = std::iter::once(slug.clone()).chain(again);
        all.extend(names.find(|name| !all.contains(name)));
    }
    all
}

/// The links of a text in a file that lead nowhere.
fn dead(at: &Path, text: &str) -> Vec<String> {
    let is_dead = |target: &String| {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let other = at.parent().unwrap().join(path);
        let there = match path {
            "" => Some(text.to_owned()),
            _ if other.is_dir() => Some(String::new()),
            _ => fs::read_to_string(other).ok(),
        };
        there.is_none_or(|there| !anchor.is_empty() && !anchors(&there).contains(anchor))
    };
    let targets = targets(text)
        .into_iter()
        .filter(|target| !is_foreign(target));
    targets.filter(is_dead).collect()
}

#[test]
fn every_link_of_every_text_arrives() {
    let files = markdown();
    assert!(files.len() > 40);
    let mut all = BTreeMap::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let dead = dead(&path, &text);
        if !dead.is_empty() {
            all.insert(path, dead);
        }
    }
    assert!(all.is_empty(), "{all:#?}");

    let spoilt = "[a](nowhere.md) [b](#none) [c](README.md#none) [d](README.md) ![e\nf](https://x)\n# A `b` c\n[g](#a-b-c)\n\
                  [h]: none\n```\n[x](code)\n```\n";
    let expected = ["nowhere.md", "#none", "README.md#none", "none"];
    assert_eq!(dead(&root().join("x.md"), spoilt), expected);
}

/// The pages of the guide that exist.
fn pages() -> BTreeSet<String> {
    let guide = file("sdk-core/src/guide.rs");
    let (_, list) = guide.split_once("pages! {").unwrap();
    let list = list.split("\n}").next().unwrap().lines();
    let names = list.filter_map(|line| line.trim().split_once(": [").map(|(name, _)| name));
    let by_hand = guide
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(" {}"));
    names.chain(by_hand).map(str::to_owned).collect()
}

#[test]
fn each_question_is_two_clicks_from_the_front_page_of_each_client() {
    let pages = pages();
    for client in ["core", "crm", "calendar", "accounting", "platform"] {
        let root = file(&format!("sdk-{client}/src/lib.rs"));
        let readme = file(&format!("sdk-{client}/README.md"));
        let above: Vec<_> = readme.lines().take(5).collect();
        for page in ["errors", "operations", "questions"] {
            let defined = format!("//! [{page}]: crate::guide::{page}\n");
            let is_shown = above.join("\n").contains(&format!("[{page}]"));
            assert!(is_shown && root.contains(&defined), "sdk-{client}: {page}");
        }
    }
    let questions = file("sdk-core/docs/questions.md");
    let rows: Vec<_> = questions
        .lines()
        .filter(|line| line.contains('?'))
        .collect();
    assert!(rows.len() >= 46);
    for row in rows {
        let named = row.split("[`").skip(1);
        let mut named = named.filter_map(|rest| rest.split_once("`]")).peekable();
        assert!(named.peek().is_some(), "{row}");
        let page = |name: &str| name.split('#').next().unwrap_or(name).to_owned();
        assert!(named.all(|(name, _)| pages.contains(&page(name))), "{row}");
    }
}

#[test]
fn the_front_page_of_the_guide_leads_to_each_of_its_pages() {
    let front = file("sdk-core/docs/guide.md");
    let missing: Vec<_> = pages()
        .into_iter()
        .filter(|page| !front.contains(&format!("[`{page}`]")))
        .collect();
    assert_eq!(missing, [""; 0]);
    // What makes rustdoc's links of them.
    let defined = pages()
        .into_iter()
        .map(|page| format!("[`{page}`]: crate::guide::{page}\n"));
    let defined: String = defined.collect();
    let made = file("sdk-core/docs/pages.txt");
    let anchors = made.strip_prefix(&*defined).expect("the pages come first");
    assert!(
        anchors.ends_with("\n\n"),
        "an empty line ends the definitions"
    );
    for line in anchors.lines().filter(|line| !line.is_empty()) {
        let (label, target) = line.split_once(": ").expect("a definition");
        let label = label.trim_matches(['[', ']', '`']);
        assert!(label.contains('#') && target == format!("crate::guide::{label}"));
    }
}

#[test]
fn the_search_finds_the_guide_by_the_words_of_people() {
    let guide = file("sdk-core/src/guide.rs");
    for word in [
        "retry",
        "backoff",
        "timeout",
        "pagination",
        "paginate",
        "cursor",
        "webhook",
        "rate limit",
        "429",
        "proxy",
        "tls",
        "certificate",
        "token",
        "oauth",
        "bearer",
        "idempotency",
        "dedupe",
        "outbox",
        "multi-tenant",
        "tenant",
        "mock",
        "fake",
        "logging",
        "tracing",
        "metrics",
        "interceptor",
        "middleware",
    ] {
        assert!(guide.contains(&format!("\"{word}\"")), "{word}");
    }
}
