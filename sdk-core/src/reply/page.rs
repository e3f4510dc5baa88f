use std::fmt;
use std::marker::PhantomData;
use std::{slice, vec};

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Error;
use crate::json::members::Members;
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::text::one_line;

/// One page of a list.
///
/// Only the page of opportunities is shown in the contract; that the other lists carry `items` is assumed (A07
/// in `specs/ASSUMPTIONS.md`). A page without `items` still decodes: everything it has is in [`extra`](Self::extra). It
/// never looks like an empty one: [`items`](Self::items) is an error then, and a `for` loop over the page is given that
/// error in place of a record.
///
/// ```
/// # use sdk_core::{Error, Page, Record};
/// # fn example(page: Page<Record>) -> Result<(), Error> {
/// for person in &page {
///     println!("{}", person?);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The schema that the page says it has.
    pub schema_version: Option<String>,
    /// The records of this page; `None` when the page has no such member.
    pub items: Option<Vec<T>>,
    /// Where the next page begins; `None`, which is null in JSON, on the last one. (Empty is taken for the end too, A53. A
    /// page without this member does not decode: it is not known to be the last.)
    pub next_cursor: Option<String>,
    /// Members that the contract does not show, kept and written back unchanged.
    pub extra: Members,
}

impl<T> Page<T> {
    /// The records of this page.
    ///
    /// # Errors
    /// When the page has no `items`; the error lists the members that it has.
    pub fn items(&self) -> Result<&[T], Error> {
        self.items.as_deref().ok_or_else(|| self.itemless())
    }

    /// The records of this page, taken out.
    ///
    /// # Errors
    /// As [`items`](Self::items).
    pub fn into_items(mut self) -> Result<Vec<T>, Error> {
        self.items.take().ok_or_else(|| self.itemless())
    }

    fn itemless(&self) -> Error {
        let lack = self.without_items().unwrap_or_default();
        Error::pagination(lack).hint("`pages()` delivers it as it came")
    }

    /// Says of a page without `items` what it has instead.
    pub(crate) fn without_items(&self) -> Option<String> {
        if self.items.is_some() {
            return None;
        }
        let named = [
            ("schemaVersion", self.schema_version.is_some()),
            ("nextCursor", self.next_cursor.is_some()),
        ];
        let own = named.into_iter().filter(|(_, came)| *came);
        let members: Vec<String> = own
            .map(|(name, _)| format!("`{name}`"))
            .chain(self.extra.iter().map(|(name, value)| {
                let null = if value.is_null() { " (null)" } else { "" };
                format!("`{name}`{null}")
            }))
            .collect();
        let members = if members.is_empty() {
            "none".to_owned()
        } else {
            one_line(&members.join(", "))
        };
        Some(format!(
            "the page has no `items` (assumed: A07); its members are {members}"
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

/// The records of a page, or in their place the one error that says that the page has none.
#[derive(Debug)]
#[must_use = "an iterator does nothing until it is asked"]
pub struct PageItems<I> {
    items: I,
    lack: Option<Error>,
}

impl<I: Iterator + Default> PageItems<I> {
    pub(crate) fn of(items: Result<impl IntoIterator<IntoIter = I>, Error>) -> Self {
        let (items, lack) = match items {
            Ok(items) => (items.into_iter(), None),
            Err(error) => (I::default(), Some(error)),
        };
        Self { items, lack }
    }
}

impl<I: Iterator> Iterator for PageItems<I> {
    type Item = Result<I::Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.items
            .next()
            .map(Ok)
            .or_else(|| self.lack.take().map(Err))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let lacks = usize::from(self.lack.is_some());
        let (least, most) = self.items.size_hint();
        (least + lacks, most.map(|most| most + lacks))
    }
}

impl<T> IntoIterator for Page<T> {
    type Item = Result<T, Error>;
    type IntoIter = PageItems<vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        PageItems::of(self.into_items())
    }
}

#[expect(
    clippy::into_iter_without_iter,
    reason = "`items` is the one other way to the records"
)]
impl<'a, T> IntoIterator for &'a Page<T> {
    type Item = Result<&'a T, Error>;
    type IntoIter = PageItems<slice::Iter<'a, T>>;

    fn into_iter(self) -> Self::IntoIter {
        PageItems::of(self.items())
    }
}

impl Page<Record> {
    /// Decodes all records of this page into a type of the caller's that may borrow from them, without a copy; see
    /// [`Record`](Record#ways-to-read-it).
    ///
    /// # Errors
    /// When the page has no `items`, or one of them another shape; the error names its place in the page, and the path
    /// in it.
    pub fn view<'a, T: Deserialize<'a>>(&'a self) -> Result<Vec<T>, Error> {
        let fits = |(place, record): (usize, &'a Record)| {
            let view = record.view();
            view.map_err(|error| Error::value(format!("`items[{place}]`: {error}")))
        };
        self.items()?.iter().enumerate().map(fits).collect()
    }
}

impl<T: Serialize> Serialize for Page<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(version) = &self.schema_version {
            map.serialize_entry("schemaVersion", version)?;
        }
        if let Some(items) = &self.items {
            map.serialize_entry("items", items)?;
        }
        if let Some(cursor) = &self.next_cursor {
            map.serialize_entry("nextCursor", cursor)?;
        }
        for (name, value) in &self.extra {
            let stands_already = match name {
                "schemaVersion" => self.schema_version.is_some(),
                "items" => self.items.is_some(),
                "nextCursor" => self.next_cursor.is_some(),
                _ => false,
            };
            if !stands_already {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Page<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PageVisitor(PhantomData))
    }
}

struct PageVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PageVisitor<T> {
    type Value = Page<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Page<T>, A::Error> {
        let (mut has_version, mut has_items, mut has_cursor) = (false, false, false);
        // Of two members of one name nobody knows which of them counts, and one may be the end of the list.
        let once = |name, seen: &mut bool| {
            if std::mem::replace(seen, true) {
                return Err(A::Error::duplicate_field(name));
            }
            Ok(())
        };
        let mut page = Page {
            schema_version: None,
            items: None,
            next_cursor: None,
            extra: Members::new(),
        };
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let was_null = match name.as_ref() {
                "schemaVersion" => {
                    once("schemaVersion", &mut has_version)?;
                    replace(&mut page.schema_version, map.next_value()?)
                }
                "items" => {
                    once("items", &mut has_items)?;
                    replace(&mut page.items, map.next_value()?)
                }
                "nextCursor" => {
                    once("nextCursor", &mut has_cursor)?;
                    replace(&mut page.next_cursor, map.next_value()?)
                }
                _ => {
                    let value = map.next_value()?;
                    page.extra.push_received(name, value);
                    continue;
                }
            };
            if was_null {
                page.extra.push_received(name, RawJson::null());
            }
        }
        // The contract says that list endpoints return a page with it: its absence is no end of the list.
        if has_cursor {
            Ok(page)
        } else {
            Err(A::Error::missing_field("nextCursor"))
        }
    }
}

/// Stores what came and says whether it was an explicit null.
fn replace<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    *slot = value;
    slot.is_none()
}
