//! The words of documentation and comments: no forbidden phrase, and no more discouraged words than there are.

use std::path::{Path, PathBuf};

use regex::Regex;

const FORBIDDEN: &[&str] = &[
    r"(?i)\b(not shown|nor is shown|do(es)? not show|contract shows|shows? (no|neither))\b",
    r"(?i)\b((no|every|some|any)body|whoever|of (yours|ours)|(is|are) (that|those) of)\b",
    r"(^|[.:;] )What [a-z][^.?]*(\.|$)|(^|[.;] )(Nor|Neither|So) (is|are|do|does|has|was)\b",
    r"(?i)\b(walk(s|ed|ing)?|laws?|worlds?|rooms?|the register|lean(er)?|told|tells)\b",
    r"(?i)\b(beside|in place of|likewise|meanwhile|for good|for ever|the like|misspelt)\b",
    r"(?i)\b(dear to|nonsense|the other side|invent(s|ed)?|that is so|st(ands?|ood))\b",
    r"(?i)\b(at once|under way|carr(y|ies|ied) out|(behaviour|colour|licence|favour)s?)\b",
    r"(?i)\b(serialis|recognis|normalis|initialis|organis|synchronis|neighbour)\w+",
];

/// Each with the number of matches at most. Lower it when they become rarer.
const DISCOURAGED: &[(usize, &str)] = &[
    (0, r"(?i)\btexts?\b"),
    (0, r"(?i)\bmembers?\b"),
    (0, r"(?i)\brepl(y|ies)\b"),
    (0, r"(?i)\brefus(e|es|ed|al|als|ing)\b"),
    (0, r"(?i)\bwhat\b"),
    (
        0,
        r"(?i)\b((other|another) one|the (first|last|second) one)\b",
    ),
    (0, r"[.!?] [^.!?|:]{5,160}: [^.!?|:]{5,160}: "),
];

/// Adds the paths of Markdown and Rust files that aren't generated.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
    {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["target", ".git", "node_modules", "corpus", "generated"].contains(&name) {
                collect(&path, paths);
            }
        } else if name.ends_with(".md") || name.ends_with(".rs") {
            paths.push(path);
        }
    }
}

/// The sentences of a Markdown file or of comments, without code.
fn prose(path: &Path) -> String {
    let content = std::fs::read_to_string(path).unwrap();
    let is_rust = path.extension().is_some_and(|it| it == "rs");
    let (mut in_code, mut prose) = (false, String::new());
    for line in content.lines() {
        let comment = line
            .split_once("//")
            .map(|(_, it)| it.trim_start_matches(['/', '!']));
        let Some(line) = (if is_rust { comment } else { Some(line) }) else {
            continue;
        };
        if line.trim().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            prose = prose + line.trim() + " ";
        }
    }
    let code = Regex::new(r"`[^`]*`|\]\([^)]*\)|tells you|https?:\S*").unwrap();
    code.replace_all(&prose, "").into_owned()
}

#[test]
fn no_phrase_is_forbidden_and_no_discouraged_word_becomes_more_common() {
    let mut paths = Vec::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), &mut paths);
    let prose = paths
        .iter()
        .map(|path| prose(path))
        .collect::<Vec<_>>()
        .join("\n");
    let forbidden = FORBIDDEN.iter().map(|pattern| (0, *pattern));
    for (most, pattern) in forbidden.chain(DISCOURAGED.iter().copied()) {
        let found: Vec<_> = Regex::new(pattern)
            .unwrap()
            .find_iter(&prose)
            .map(|it| it.as_str())
            .collect();
        assert!(
            found.len() <= most,
            "{} of {most} for {pattern}: {found:#?}",
            found.len()
        );
    }
}
