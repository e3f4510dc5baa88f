use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::error::kind::Effect;
use crate::json::members::Members;
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::reply::decode::{FromResponse, Received, Unreadable};
use crate::text::one_line;

/// A page of a list.
///
/// The contract documents only the page of opportunities. Other lists presumably have `items` too (assumption A07 in
/// `specs/ASSUMPTIONS.md`). A page without `items` still decodes, with all its fields in [`extra`](Self::extra).
/// [`items`](Self::items) then fails, so that it isn't mistaken for an empty page.
///
/// ```
/// # use sdk_core::{Error, Page, Record};
/// # fn example(page: Page<Record>) -> Result<(), Error> {
/// for person in page.items()? {
///     println!("{person}");
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The schema version of the page.
    pub schema_version: Option<String>,
    /// The records of this page. `None` if the page has no `items`.
    pub items: Option<Vec<T>>,
    /// The cursor of the next page. `None` (null in JSON) on the last page. An empty cursor also ends the list
    /// (assumption A53). A page without this field fails to decode, because more pages might follow.
    pub next_cursor: Option<String>,
    /// Undocumented fields, preserved and written back unchanged.
    pub extra: Members,
}

impl<T> Page<T> {
    /// Returns the records of this page.
    ///
    /// # Errors
    /// If the page has no `items`. The error lists the fields that the page has.
    pub fn items(&self) -> Result<&[T], Error> {
        self.items.as_deref().ok_or_else(|| self.missing_items())
    }

    /// Returns the records of this page by value.
    ///
    /// # Errors
    /// Same as [`items`](Self::items).
    pub fn into_items(mut self) -> Result<Vec<T>, Error> {
        self.items.take().ok_or_else(|| self.missing_items())
    }

    /// Decodes the other fields of this page, such as a total, into your own type.
    ///
    /// # Errors
    /// If they don't match the type. The error names the field.
    pub fn members<M: DeserializeOwned>(&self) -> Result<M, Error> {
        RawJson::encode(&self.extra)?.decode()
    }

    fn missing_items(&self) -> Error {
        let message = self.without_items().unwrap_or_default();
        Error::pagination(message)
            .with(|parts| parts.effect = Effect::Unknown)
            .with_hint("`pages()` returns such a page as received")
    }

    fn without_items(&self) -> Option<String> {
        if self.items.is_some() {
            return None;
        }
        let version = self.schema_version.as_ref().map(|_| "`schemaVersion`");
        let known = version.into_iter().chain(["`nextCursor`"]);
        let extra = self.extra.iter().map(|(name, value)| {
            let null = if value.is_null() { " (null)" } else { "" };
            format!("`{name}`{null}")
        });
        let fields: Vec<_> = known.map(str::to_owned).chain(extra).collect();
        let fields = one_line(&fields.join(", "));
        Some(format!(
            "the page has no `items` (assumption A07); it has only {fields}"
        ))
    }

    /// The cursor of the next page; `None` at the end of the list.
    #[must_use]
    pub fn next_cursor(&self) -> Option<&str> {
        self.next_cursor
            .as_deref()
            .filter(|cursor| !cursor.is_empty())
    }
}

impl<T: DeserializeOwned + Send + 'static> FromResponse for Page<T> {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        let page: Self = reply.json()?;
        match page.without_items().filter(|_| reply.has_schema_version()) {
            Some(message) => Err(Unreadable::Malformed(message)),
            None => Ok(page),
        }
    }
}

impl Page<Record> {
    /// Decodes all records of this page into your own type, which may borrow from them. See
    /// [`Record`](Record#ways-to-read-it).
    ///
    /// # Errors
    /// If the page has no `items`, or a record doesn't match the type. The error names the record's index and the path.
    pub fn view<'a, T: Deserialize<'a>>(&'a self) -> Result<Vec<T>, Error> {
        let view = |(place, record): (usize, &'a Record)| {
            let view = record.view();
            view.map_err(|error| Error::value(format!("`items[{place}]`: {error}")))
        };
        self.items()?.iter().enumerate().map(view).collect()
    }
}

// A page without `nextCursor` doesn't decode, because the contract requires the field. Null means the end of the list.
crate::json_object!(Page<T> {
    schema_version: optional "schemaVersion",
    items: optional "items",
    next_cursor: nullable "nextCursor",
});
