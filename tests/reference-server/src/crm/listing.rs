//! What the lists have in common: the page size, the cursor, the search text, the walk along the rows.

use serde_json::{Value, json};

use crate::call::Call;
use crate::cursor::{self, Binding};
use crate::data::{Record, Table};
use crate::refusal::Refusal;

/// Bounds of `limit` on the lists of records, and its default.
const LIMIT: (usize, usize) = (1, 50);
const DEFAULT_LIMIT: usize = 25;

/// Bounds of `q`, in characters.
const SEARCH_TEXT: (usize, usize) = (2, 100);

/// A page to be filled.
pub(super) struct Page<'c> {
    call: &'c Call<'c>,
    binding: Binding,
    start: u64,
    limit: usize,
}

impl<'c> Page<'c> {
    /// Reads `limit` and `cursor` of a list of records; `filters` is what the cursor is bound to.
    pub(super) fn of_records(call: &'c Call<'c>, filters: &[&str]) -> Result<Page<'c>, Refusal> {
        Page::new(call, filters, LIMIT, DEFAULT_LIMIT)
    }

    pub(super) fn new(
        call: &'c Call<'c>,
        filters: &[&str],
        bounds: (usize, usize),
        default: usize,
    ) -> Result<Page<'c>, Refusal> {
        let limit = call.query.integer("limit", bounds, default)?;
        let binding = Binding::new(call.operation, filters);
        let start = match call.query.text("cursor")? {
            Some(cursor) => cursor::open(&call.suite.cursor_key, binding, cursor)?,
            None => 0,
        };
        Ok(Page {
            call,
            binding,
            start,
            limit,
        })
    }

    /// The page's items from a table, and its `nextCursor` if another row is wanted after them.
    pub(super) fn fill<R: Record>(
        &self,
        table: &Table<R>,
        mut wanted: impl FnMut(u64, &R) -> bool,
        mut item: impl FnMut(u64, &R) -> Value,
    ) -> Value {
        let mut items = Vec::with_capacity(self.limit);
        let mut next = None;
        for (index, row) in table.rows(self.start) {
            if !wanted(index, &row) {
                continue;
            }
            if items.len() == self.limit {
                next = Some(index);
                break;
            }
            items.push(item(index, &row));
        }
        self.body(&items, next)
    }

    /// The page's items by position in a sequence of known length.
    pub(super) fn slice(&self, length: u64, mut item: impl FnMut(u64) -> Option<Value>) -> Value {
        let end = self.start.saturating_add(self.limit as u64).min(length);
        let items: Vec<Value> = (self.start..end).filter_map(&mut item).collect();
        self.body(&items, (end < length).then_some(end))
    }

    fn body(&self, items: &[Value], next: Option<u64>) -> Value {
        let cursor =
            next.map(|next| cursor::issue(&self.call.suite.cursor_key, self.binding, next));
        json!({"items": items, "nextCursor": cursor})
    }
}

/// The search text of a list: given or not, 2 to 100 characters.
pub(super) fn search_text<'c>(call: &'c Call<'_>) -> Result<Option<&'c str>, Refusal> {
    call.query.bounded("q", SEARCH_TEXT)
}

/// Whether some text contains what is searched for, whatever the case. Texts are matched without allocation
/// where they are plain ASCII, since a search may look at a million of them.
#[derive(Clone, Debug)]
pub(super) struct Needle(String);

impl Needle {
    pub(super) fn new(text: &str) -> Needle {
        Needle(text.to_lowercase())
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        if text.is_ascii() {
            let (text, needle) = (text.as_bytes(), self.0.as_bytes());
            return text.len() >= needle.len()
                && text
                    .windows(needle.len())
                    .any(|part| part.eq_ignore_ascii_case(needle));
        }
        text.to_lowercase().contains(&self.0)
    }
}

/// Whether a row passes a search that may be absent.
pub(super) fn passes(needle: Option<&Needle>, texts: &[&str]) -> bool {
    needle.is_none_or(|needle| texts.iter().any(|text| needle.is_in(text)))
}
