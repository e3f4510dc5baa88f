//! The table of `rules.md`, which is both documentation and data.

use std::fmt;

use serde::Serialize;

const TABLE: &str = include_str!("rules.md");

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum How {
    New,
    Gone,
    Narrower,
    Wider,
    Other,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// Whether a part occurs in requests, in responses, or in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Way {
    Request,
    Response,
    Both,
}

/// Whether a change breaks callers that write, and callers that read. `None` if the table has no such change.
pub(super) fn verdict(what: &str, how: How, way: Way) -> Option<(bool, bool)> {
    let mut rows = TABLE
        .lines()
        .map(|line| line.split('|').map(str::trim).skip(1));
    let mut row = rows.find_map(|mut row| (row.next() == Some(what)).then_some(row))?;
    let cell = row.nth(how as usize).filter(|cell| !cell.is_empty())?;
    Some((
        cell.contains('W') && way != Way::Response,
        cell.contains('R') && way != Way::Request,
    ))
}

/// Keywords that only the server checks.
const CHECKED: &str = "multipleOf uniqueItems patternProperties propertyNames dependentRequired dependentSchemas dependencies \
                       unevaluatedProperties unevaluatedItems contains minContains maxContains contentMediaType \
                       contentEncoding not if then else prefixItems";

/// The row for a keyword that is compared as written. No rule covers the row `field`.
pub(super) fn keyword(key: &str) -> &'static str {
    match key {
        "pattern" => "pattern",
        "format" => "format",
        "default" => "default",
        _ if CHECKED.split_whitespace().any(|it| it == key) => "rule",
        _ => "field",
    }
}
