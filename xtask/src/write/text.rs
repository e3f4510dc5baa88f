//! Converts strings of a document into comments.

use std::fmt::{Display, Write as _};

/// The maximum width of a comment line.
const WIDTH: usize = 108;

/// A doc comment. Paragraphs are wrapped. Lists, headings and code are unchanged.
pub(super) fn comment(text: &str) -> String {
    let (mut out, mut code) = (String::new(), false);
    for block in text.trim().split("\n\n") {
        if !out.is_empty() {
            out.push_str("///\n");
        }
        let is_verbatim = block.starts_with("```") || block.starts_with(['#', '-', '*', '|']);
        if !code && !is_verbatim {
            wrap(&mut out, block);
            continue;
        }
        for line in block.lines() {
            let is_fence = line.starts_with("```");
            let line = if code || is_fence {
                line.to_owned()
            } else {
                shallow(line)
            };
            code ^= is_fence;
            let _ = writeln!(out, "/// {line}");
        }
    }
    out.replace("/// \n", "///\n")
}

/// A line of a list or a table, with less indentation. A wide indent would begin a code block, which rustdoc runs as a test.
fn shallow(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_item = words
        .first()
        .is_some_and(|word| matches!(*word, "-" | "*" | "+"));
    let indent = line.len() - line.trim_start().len();
    let most = if is_item { 6 } else { 2 };
    " ".repeat(indent.min(most)) + &words.join(" ")
}

fn wrap(out: &mut String, paragraph: &str) {
    let mut line = String::from("///");
    for word in paragraph.split_whitespace() {
        if line.len() > 3 && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(out, "{line}");
            line.truncate(3);
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(out, "{line}");
}

/// Converts a string of a document into Markdown for rustdoc. Brackets and URLs become neither links nor tags, headings don't
/// become sections, and code blocks don't become tests.
pub(super) fn prose(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let (mut blocks, mut fenced) = (Vec::new(), false);
    let mut plain = String::new();
    for line in text.trim().lines() {
        let is_fence = ["```", "~~~"].iter().any(|it| {
            // More backticks in the line make it code within a sentence.
            let rest = line.trim_start().strip_prefix(it);
            rest.is_some_and(|it| !it.contains('`'))
        });
        fenced ^= is_fence;
        let line = match line.trim_start() {
            _ if is_fence && fenced => "\n```text".to_owned(),
            _ if is_fence => "```\n".to_owned(),
            _ if fenced => visible(line),
            heading if heading.starts_with('#') => {
                format!("\n**{}**\n", visible(heading.trim_matches(['#', ' '])))
            }
            _ => {
                let _ = writeln!(plain, "{}", visible(line));
                continue;
            }
        };
        blocks.push(escaped(&std::mem::take(&mut plain)));
        blocks.push(line + "\n");
    }
    blocks.push(escaped(&plain));
    if fenced {
        blocks.push("```".to_owned());
    }
    blocks.concat().trim().to_owned()
}

/// Markdown for a string of a document, or the other string if it is empty.
pub(super) fn prose_or(text: &str, other: impl Into<String>) -> String {
    let text = prose(text);
    if text.is_empty() { other.into() } else { text }
}

/// Joins the non-empty parts with a separator.
pub(super) fn joined(
    parts: impl IntoIterator<Item = impl Into<String>>,
    separator: &str,
) -> String {
    let parts = parts.into_iter().map(Into::into);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(separator)
}

/// Markdown for a string of a document on a single line, for a list item.
pub(super) fn line(text: &str) -> String {
    prose(text).replace('\n', " ")
}

/// Escapes Markdown outside of code blocks.
fn escaped(text: &str) -> String {
    let (mut out, mut rest, mut code) = (String::new(), text, false);
    let is_paired = text.matches('`').count().is_multiple_of(2);
    while let Some(character) = rest.chars().next() {
        if !code && (rest.starts_with("http://") || rest.starts_with("https://")) {
            let end = rest.find(|c: char| c.is_whitespace() || "()<>[]\"'`".contains(c));
            let address = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',', ';', ':']);
            let _ = write!(out, "<{address}>");
            rest = &rest[address.len()..];
            continue;
        }
        code ^= is_paired && character == '`';
        if !code && ("[]<>".contains(character) || character == '`' && !is_paired) {
            out.push('\\');
        }
        out.push(character);
        rest = &rest[character.len_utf8()..];
    }
    out
}

/// A line without control characters, including characters that control the text direction.
fn visible(line: &str) -> String {
    let hides = |c: &char| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let line = line.chars().filter(|c| !hides(c));
    line.map(|c| if c.is_control() { ' ' } else { c }).collect()
}

pub(super) fn code(text: impl Display) -> String {
    let text: String = visible(&text.to_string());
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

pub(super) fn codes<T: Display>(texts: impl IntoIterator<Item = T>) -> Vec<String> {
    texts.into_iter().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::{code, comment, prose};

    #[test]
    fn markdown_in_a_vendors_strings_is_escaped() {
        for (text, expected) in [
            (
                "See [x](https://a.example/b_c). Or <b>.",
                r"See \[x\](<https://a.example/b_c>). Or \<b\>.",
            ),
            ("`a[0]` but [0]", r"`a[0]` but \[0\]"),
            ("it`s [0]", r"it\`s \[0\]"),
            ("# Rules\r\nNone.", "**Rules**\n\nNone."),
            (
                "Like\n```\nlet [a] = 1;\n```\nthat",
                "Like\n\n```text\nlet [a] = 1;\n```\n\nthat",
            ),
            ("```json\n{}", "```text\n{}\n```"),
            ("~~~\na\n~~~", "```text\na\n```"),
            ("``` a ``` and b", "``` a ``` and b"),
            ("a\u{202E}b\rc", "ab c"),
        ] {
            assert_eq!(prose(text), expected);
        }
        assert_eq!(code("a`b\nc"), "`` a`b c ``");
    }

    #[test]
    fn indented_strings_of_a_vendor_do_not_become_tests() {
        let text = "|a|\n|-|\n    code\n\n-      code\n  - b\n\n    code";
        let lines = "/// |a|\n/// |-|\n///   code\n///\n/// - code\n///   - b\n///\n/// code\n";
        assert_eq!(comment(&prose(text)), lines);
    }

    #[test]
    fn code_and_lists_keep_their_lines() {
        let text = prose("One\ntwo.\n```\na\n\nb\n```\n- x\n- y");
        let lines =
            "/// One two.\n///\n/// ```text\n/// a\n///\n/// b\n/// ```\n///\n/// - x\n/// - y\n";
        assert_eq!(comment(&text), lines);
    }
}
