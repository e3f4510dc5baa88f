//! The report about two documents, as plain text, JSON or Markdown.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::assumed::Verdict;
use super::change::{Change, Use};
use super::names::NameChange;
use super::value::Difference;
use crate::{Result, at};

#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Title and version.
    pub(super) old: String,
    pub(super) new: String,
    pub(super) changes: Vec<Change>,
    pub(super) names: Vec<NameChange>,
    pub(super) assumptions: Vec<Assumption>,
    /// Places and their differences.
    pub(super) not_understood: Vec<(String, String)>,
    pub(super) rejected: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Assumption {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) verdict: &'static str,
    pub(crate) places: Vec<(Verdict, String)>,
}

impl Report {
    /// 0 if nothing breaks, 1 if something breaks, 2 if the result is unclear.
    pub(super) fn status(&self) -> u8 {
        let mut changes = self.changes.iter();
        let breaks = changes.any(|it| it.breaks_writers || it.breaks_readers);
        // The names of rejected parts are unknown.
        let renames = self.rejected.is_empty() && self.names.iter().any(|it| it.breaks);
        let is_clear = self.not_understood.is_empty() && self.rejected.is_empty();
        if breaks || renames {
            1
        } else {
            u8::from(!is_clear) * 2
        }
    }

    pub(super) fn written(&self, form: &str) -> Result<String> {
        if form != "--json" {
            let is_markdown = form == "--markdown";
            let (head, item) = if is_markdown {
                ("## ", "- ")
            } else {
                ("", "  ")
            };
            return Ok(self.lines(is_markdown, head, item));
        }
        let mut value = serde_json::to_value(self).map_err(at("the report"))?;
        value["status"] = self.status().into();
        value["verdict"] = self.verdict().into();
        Ok(format!("{value:#}\n"))
    }

    fn verdict(&self) -> String {
        let writers = self.changes.iter().filter(|it| it.breaks_writers).count();
        let readers = self.changes.iter().filter(|it| it.breaks_readers).count();
        let sources = self.names.iter().filter(|it| it.breaks).count();
        let (rejected, odd) = (self.rejected.len(), self.not_understood.len());
        match self.status() {
            0 if self.changes.is_empty() && self.names.is_empty() => "Nothing changed.".to_owned(),
            0 => format!("Not breaking: {} changes.", self.changes.len()),
            1 => format!(
                "Breaking: {writers} changes for callers that write, {readers} for callers that read, {sources} names."
            ),
            _ => format!("Unclear: {rejected} rejected, {odd} not understood."),
        }
    }

    fn lines(&self, is_markdown: bool, head: &str, item: &str) -> String {
        let versions = format!("{} -> {}", self.old, self.new);
        let mut text = format!("{head}{}\n", shown(&versions, is_markdown));
        let mut section = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = write!(text, "\n{head}{title}\n\n");
            }
            for line in lines {
                let _ = writeln!(text, "{item}{}", shown(&line, is_markdown));
            }
        };
        for (title, breaks) in [
            ("Breaks callers that write and read", (true, true)),
            ("Breaks callers that write", (true, false)),
            ("Breaks callers that read", (false, true)),
            ("Breaks no callers", (false, false)),
        ] {
            let all = self.changes.iter();
            let all = all.filter(|it| (it.breaks_writers, it.breaks_readers) == breaks);
            section(title, all.map(line).collect());
        }
        let names = |breaks| {
            self.names
                .iter()
                .filter(move |it| it.breaks == breaks)
                .map(named)
        };
        section("Names that break source code", names(true).collect());
        section("Names that break no source code", names(false).collect());
        let (rest, seen): (Vec<_>, Vec<_>) = self
            .assumptions
            .iter()
            .partition(|it| it.verdict == "not seen");
        let seen = seen.into_iter().map(ToString::to_string);
        let rest: Vec<&str> = rest.into_iter().map(|it| &*it.id).collect();
        let rest = (!rest.is_empty()).then(|| format!("Not seen: {}", rest.join(", ")));
        section("Assumptions", seen.chain(rest).collect());
        let odd = self.not_understood.iter();
        section(
            "Not understood (no rule covers these, so review them)",
            odd.map(|it| format!("{}: {}", it.0, it.1)).collect(),
        );
        section("Rejected", self.rejected.clone());
        text + "\n" + &self.verdict() + "\n"
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places.iter().take(6);
        let places = places.map(|(verdict, it)| format!("{it} ({verdict})"));
        let places = places.collect::<Vec<_>>().join(", ");
        write!(f, "{} {}: {}: {places}", self.id, self.title, self.verdict)
    }
}

fn line(change: &Change) -> String {
    let Difference {
        what, how, was, is, ..
    } = &change.difference;
    let breaking = |it: &&Use| it.breaks_writers || it.breaks_readers;
    let first = change.uses.iter().find(breaking).or(change.uses.first());
    let first = first.map(|it| format!("{} {}", it.operation, it.place));
    let more = match change.uses.len() {
        0 | 1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    let place = format!("{}{more}", first.unwrap_or_default().trim());
    let values = match (&**was, &**is) {
        ("", "") => String::new(),
        ("", value) | (value, "") => format!(" {}", code(value)),
        (was, is) => format!(" {} -> {}", code(was), code(is)),
    };
    let mut pointers: Vec<&str> = vec![&change.difference.old, &change.difference.new];
    pointers.retain(|it| !it.is_empty());
    pointers.dedup();
    let pointers = pointers.join(" -> ");
    let place = format!("{place}: {what} {how}");
    format!("{}{values} ({pointers})", place.trim_start_matches(": "))
}

fn named(change: &NameChange) -> String {
    let NameChange {
        how, name, was, is, ..
    } = change;
    let [it, old, new] = [name, was, is].map(|it| code(it));
    match (*how, &**was, &**is) {
        (how, "", "") => format!("{it} {how}"),
        ("is renamed", ..) => format!("{it} is renamed to {new}"),
        (how, "", _) => format!("{it} {how}: {new}"),
        (how, _, "") => format!("{it} {how}: {old}"),
        (how, ..) => format!("{it} {how}: {old} -> {new}"),
    }
}

/// The delimiter of code within a line.
const CODE: char = '\u{1}';

fn code(text: &str) -> String {
    format!("{CODE}{}{CODE}", text.replace(CODE, " "))
}

/// Formats a line. Strings from documents can't end the line or add markup.
fn shown(line: &str, is_markdown: bool) -> String {
    let mut text = String::new();
    for (at, part) in line.split(CODE).enumerate() {
        let is_odd = |it: char| {
            it.is_control() || matches!(it, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let mut plain = String::new();
        for it in part.chars() {
            match it {
                it if is_odd(it) => plain.extend(it.escape_default()),
                it if is_markdown && at % 2 == 0 && "\\`*_{}[]<>#|~&!".contains(it) => {
                    plain.extend(['\\', it]);
                }
                it => plain.push(it),
            }
        }
        // The fence is longer than any run of backticks in the code.
        let ticks = plain.split(|it| it != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(ticks + 1);
        let _ = match at % 2 {
            0 => write!(text, "{plain}"),
            _ if is_markdown && ticks > 0 => write!(text, "{fence} {plain} {fence}"),
            _ => write!(text, "`{plain}`"),
        };
    }
    text
}
