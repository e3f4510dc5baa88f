//! Shared code of the lists: page size, cursor, search and filling a page.

use serde::Serialize;
use serde_json::Value;

use crate::call::Call;
use crate::contradict::Assumption;
use crate::cursor::{self, Binding};
use crate::data::{Record, Table};
use crate::refusal::Refusal;

/// A case-insensitive search term. An empty term matches every string.
#[derive(Clone, Debug)]
pub(super) struct Needle(String);

impl Needle {
    pub(super) fn new(text: Option<&str>) -> Needle {
        Needle(text.unwrap_or_default().to_lowercase())
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.is_empty() || text.to_lowercase().contains(&self.0)
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageBody<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schema_version: Option<&'static str>,
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
}

/// An item with the additional fields of its detail view.
#[derive(Debug, Serialize)]
pub(super) struct Details<T> {
    #[serde(flatten)]
    pub(super) item: T,
    #[serde(flatten)]
    pub(super) more: Value,
}

pub(super) struct Page<'c> {
    call: &'c Call<'c>,
    binding: Binding,
    start: u64,
    limit: usize,
}

impl<'c> Page<'c> {
    /// Reads `limit` and `cursor`. The cursor is bound to `filters`.
    pub(super) fn new(call: &'c Call<'c>, filters: &[Option<&str>]) -> Result<Page<'c>, Refusal> {
        let limit = call.limit();
        let size = limit.to_string();
        let bound = [Some(&*size)];
        let bound = call.suite.unless(Assumption::A75, &[][..], &bound);
        let binding = Binding::new(&call.operation.id, &[filters, bound].concat());
        let start = match call.query("cursor") {
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

    /// Fills the page from a table. `nextCursor` is set if another row matches.
    pub(super) fn fill<R: Record, T>(
        &self,
        table: &Table<R>,
        mut wanted: impl FnMut(u64, &R) -> bool,
        mut item: impl FnMut(u64, R) -> T,
    ) -> PageBody<T> {
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
            items.push(item(index, row));
        }
        self.items(items, next)
    }

    /// Fills the page by position from a sequence of known length.
    pub(super) fn slice<T>(&self, length: u64, item: impl FnMut(u64) -> Option<T>) -> PageBody<T> {
        let end = self.start.saturating_add(self.limit as u64).min(length);
        let items = (self.start..end).filter_map(item).collect();
        self.items(items, (end < length).then_some(end))
    }

    fn items<T>(&self, items: Vec<T>, next: Option<u64>) -> PageBody<T> {
        let key = &self.call.suite.cursor_key;
        PageBody {
            schema_version: None,
            items,
            next_cursor: next.map(|next| cursor::issue(key, self.binding, next)),
        }
    }
}
