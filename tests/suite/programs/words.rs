//! Checks the words of Markdown and of comments in Rust. Code, strings and other files aren't checked.

use std::path::{Path, PathBuf};

use regex::Regex;

const FORBIDDEN: &[&str] = &[
    r"(?i-u)\b(not shown|nor is shown|do(es)? not show|contract shows|shows? (no|neither))\b",
    r"(?i-u)\b((no|every|some|any)body|whoever|of (yours|ours)|(is|are) (that|those) of)\b",
    r"(^|[.:;] )What [a-z][^.?]*(\.|$)|(^|[.;] )(Nor|Neither|So) (is|are|do|does|has|was)\b",
    r"(?i-u)\b(walk(s|ed|ing)?|laws?|worlds?|rooms?|the register|lean(er)?|told|tells)\b",
    r"(?i-u)\b(beside|in place of|likewise|meanwhile|for good|for ever|the like|misspelt)\b",
    r"(?i-u)\b(dear to|nonsense|the other side|invent(s|ed)?|that is so|st(ands?|ood))\b",
    r"(?i-u)\b(at once|under way|carr(y|ies|ied) out|(behaviour|colour|licence|favour)s?)\b",
    r"(?i-u)\b(serialis|recognis|normalis|initialis|organis|synchronis|neighbour)[a-z]+",
];

/// Patterns with their largest number of matches. Lower a number when you remove matches.
const DISCOURAGED: &[(usize, &str)] = &[
    (14, r"(?i-u)\btexts?\b"),
    (2, r"(?i-u)\bmembers?\b"),
    (17, r"(?i-u)\brepl(y|ies)\b"),
    (23, r"(?i-u)\brefus(e|es|ed|al|als|ing)\b"),
    (13, r"(?i-u)\bwhat\b"),
    (0, r"(?i-u)\b((an)?other|the (first|last|second)) one\b"),
    (7, r"[.!?] [^.!?|:]{5,160}: [^.!?|:]{5,160}: "),
];

/// Adds the paths of Markdown and Rust files that aren't generated.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let skipped = ["target", ".git", "node_modules", "corpus", "generated"];
        if path.is_dir() && !skipped.contains(&name) {
            collect(&path, paths);
        } else if path.extension().is_some_and(|it| it == "md" || it == "rs") {
            paths.push(path);
        }
    }
}

/// The sentences of a Markdown file or of comments, without code.
fn prose(path: &Path, code: &Regex) -> String {
    let mut prose = std::fs::read_to_string(path).unwrap();
    if path.extension().is_some_and(|it| it == "rs") {
        let comments = prose.lines().filter_map(|line| line.split_once("//"));
        let comments = comments.map(|(_, it)| it.trim_start_matches(['/', '!']));
        prose = comments.collect::<Vec<_>>().join("\n");
    }
    code.replace_all(&prose, " ").into_owned()
}

#[test]
fn no_phrase_is_forbidden_and_no_discouraged_word_becomes_more_common() {
    let mut paths = Vec::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), &mut paths);
    // "tells you" and "hello world" are allowed.
    let code = r"(?s)(```.*?```|`[^`]*`|\]\([^)]*\)|tells you|hello world|\s)+";
    let code = Regex::new(code).unwrap();
    let prose: Vec<_> = paths.iter().map(|it| (it, prose(it, &code))).collect();
    let forbidden = FORBIDDEN.iter().map(|pattern| (0, *pattern));
    let mut problems = Vec::new();
    for (most, pattern) in forbidden.chain(DISCOURAGED.iter().copied()) {
        let pattern = Regex::new(pattern).unwrap();
        let in_context = Regex::new(&format!(".{{0,40}}({pattern}).{{0,40}}")).unwrap();
        let counts = prose.iter().map(|(_, it)| pattern.find_iter(it).count());
        let count: usize = counts.sum();
        let found = prose.iter().flat_map(|(path, prose)| {
            let found = in_context.find_iter(prose);
            found.map(move |it| format!("{}: {}\n", path.display(), it.as_str()))
        });
        if count > most {
            problems.push(format!("\n{pattern}, {count} of {most}:\n"));
            problems.extend(found);
        }
    }
    let problems = problems.concat();
    assert!(problems.is_empty(), "rewrite these sentences:{problems}");
}
