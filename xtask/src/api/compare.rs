//! What a change of the listing means to users.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The lines that differ, and the verdict.
pub(crate) fn report(recorded: &str, actual: &str) -> String {
    let old: BTreeSet<&str> = recorded.lines().collect();
    let new: BTreeSet<&str> = actual.lines().collect();
    if old.is_empty() {
        return format!("  recorded for the first time: {} lines", new.len());
    }
    let (mut text, mut breaking) = (String::new(), 0);
    for line in old.difference(&new) {
        breaking += 1;
        let _ = writeln!(text, "- {line}");
    }
    for line in new.difference(&old) {
        let obliging = obliges(line, &old);
        breaking += usize::from(obliging);
        let note = if obliging { "   <- breaking" } else { "" };
        let _ = writeln!(text, "+ {line}{note}");
    }
    let verdict = if breaking == 0 {
        "compatible: lines were added only".to_owned()
    } else {
        format!(
            "BREAKING ({breaking} lines removed, changed, or added where users must follow): raise the minor version, which before 1.0 is the place for it"
        )
    };
    text + &verdict
}

/// Whether something new obliges users to change their code: a variant of an enumeration that they may match in full, a
/// member of a struct that they may write out, a method of a trait that they may implement, a trait taken back.
fn obliges(line: &str, old: &BTreeSet<&str>) -> bool {
    if line.starts_with("impl") {
        return line.contains(" !core::marker::");
    }
    let Some(item) = line.strip_prefix("pub ") else {
        return false;
    };
    let function = item
        .strip_prefix("async ")
        .unwrap_or(item)
        .strip_prefix("fn ");
    let Some((parent, _)) = path_of(function.unwrap_or(item)).rsplit_once("::") else {
        return false;
    };
    let knows = |begin: &str| {
        old.iter().any(|known| {
            known.strip_prefix(begin).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(['<', ':', ' ']) && !rest.starts_with("::")
            })
        })
    };
    if function.is_some() {
        return knows(&format!("pub trait {parent}"));
    }
    let member = format!("pub {parent}::");
    let has_members = || old.iter().any(|known| known.starts_with(&member));
    knows(&format!("pub enum {parent}")) || knows(&format!("pub struct {parent}")) && has_members()
}

/// The path that an item begins with: everything up to its type, arguments or generics.
fn path_of(item: &str) -> &str {
    let mut rest = item;
    loop {
        rest = rest.trim_start_matches(|c: char| c == '_' || c.is_alphanumeric());
        let Some(after) = rest.strip_prefix("::") else {
            return &item[..item.len() - rest.len()];
        };
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::report;

    const OLD: &str = "\
#[non_exhaustive] pub enum sdk::Kind
#[non_exhaustive] pub struct sdk::Page<T>
impl core::clone::Clone for sdk::Client
pub enum sdk::Effect
pub fn sdk::Client::people(&self) -> sdk::PeopleApi<'_>
pub sdk::Effect::NotSent
pub sdk::Kind::Timeout
pub sdk::Page::extra: sdk::Members
pub struct sdk::Client
pub trait sdk::TokenSource: core::marker::Send
";

    #[test]
    fn what_is_only_added_is_compatible() {
        for line in [
            "pub fn sdk::Client::tasks(&self) -> sdk::TasksApi<'_>",
            "pub sdk::Kind::Unknown(alloc::string::String)",
            "pub sdk::Page::total: core::option::Option<i64>",
            "impl core::fmt::Debug for sdk::Client",
        ] {
            let said = report(OLD, &format!("{OLD}{line}\n"));
            assert_eq!(said, format!("+ {line}\ncompatible: lines were added only"));
        }
    }

    #[test]
    fn what_obliges_users_is_breaking() {
        for line in [
            "pub sdk::Effect::Unknown",
            "pub fn sdk::TokenSource::token(&self)",
            "impl !core::marker::Send for sdk::Client",
            "impl<T> !core::marker::Sync for sdk::Page<T>",
        ] {
            let said = report(OLD, &format!("{OLD}{line}\n"));
            assert!(
                said.starts_with(&format!("+ {line}   <- breaking\nBREAKING (1 ")),
                "{said}"
            );
        }
    }

    #[test]
    fn what_is_gone_or_changed_is_breaking() {
        let new = OLD.replace("people(&self)", "people(&self, all: bool)");
        let said = report(OLD, &new);
        let expected = "\
- pub fn sdk::Client::people(&self) -> sdk::PeopleApi<'_>
+ pub fn sdk::Client::people(&self, all: bool) -> sdk::PeopleApi<'_>
BREAKING (1 ";
        assert!(said.starts_with(expected), "{said}");

        let new = OLD.replace("#[non_exhaustive] pub enum", "pub enum");
        let said = report(OLD, &new);
        assert!(
            said.contains("- #[non_exhaustive] pub enum sdk::Kind"),
            "{said}"
        );
    }
}
