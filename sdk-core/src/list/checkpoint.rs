use std::borrow::Cow;

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::command::key::hex;
use crate::error::Error;
use crate::operation::Operation;
use crate::text::{counted, one_line};

const VERSION: u32 = 1;

/// The largest plausible number of delivered items.
const MOST_DELIVERED: u64 = 1 << 53;

/// The longest plausible cursor. Longer cursors don't fit into a URL.
const LONGEST_CURSOR: usize = 64 * 1024;

/// The query parameter for the page size.
const LIMIT: &str = "limit";

/// Query parameters that select a page, not the items of the list.
const POSITION: [&str; 2] = ["cursor", LIMIT];

/// The position of a list, with which another process can resume without losing or repeating an item
/// ([the guide](crate::guide::pagination#resume-after-a-restart)).
///
/// It implements `Serialize`. Store it in the same transaction, or with the same file rename, as the results of the
/// items, so that a crash neither loses nor repeats an item. The `list` example saves a checkpoint after each page.
///
/// - A checkpoint belongs to its operation, filters and audience. Any other list rejects it. The filters are the path
///   and all query parameters except `cursor` and `limit`, so you may resume with another page size. The audience is
///   the application's origin, unless you set it.
/// - A checkpoint doesn't record the base URL, the installation's label, headers, scopes or credentials. If several
///   installations share an audience, store their checkpoints separately. The SDK can't detect a mix-up.
/// - It contains a digest of the filters. Anyone who guesses a filter, such as a name, can compute the digest.
/// - A position between pages is exact as long as the server accepts the cursor. A position *within* a page consists of
///   the page's cursor and a count. It is exact only if the page has the same items when it is fetched again. If the
///   list may change, take checkpoints between pages, from [`Pages`](crate::Pages).
/// - The cursor is an opaque string from the server. The contract doesn't document how long it is valid, or whether
///   another client may use it. If the server rejects it, the error contains a hint, and you have to list from the
///   start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    version: u32,
    // Fields that another version may lack have defaults, so that the version check reports the error.
    #[serde(default)]
    application: Cow<'static, str>,
    #[serde(default)]
    operation: Cow<'static, str>,
    #[serde(default)]
    filters: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audience: Option<String>,
    /// The cursor of the page to fetch next. `None` for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// The number of items after that cursor that were already delivered.
    #[serde(default)]
    skip: usize,
    /// The page size to which `skip` refers. `None` for the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    #[serde(default)]
    delivered: u64,
    #[serde(default)]
    finished: bool,
}

impl Checkpoint {
    pub(super) fn start(
        operation: &Operation,
        audience: Option<&str>,
        filters: String,
        cursor: Option<String>,
        limit: Option<String>,
    ) -> Self {
        Self {
            version: VERSION,
            application: Cow::Borrowed(operation.application.name()),
            operation: Cow::Borrowed(operation.id),
            filters,
            audience: audience.map(str::to_owned),
            cursor,
            skip: 0,
            limit,
            delivered: 0,
            finished: false,
        }
    }

    /// The operation whose list this is.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// The total number of delivered items, across all processes.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether the list reached the end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The cursor of the page to fetch next. `None` for the first page.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    pub(super) fn skip(&self) -> usize {
        self.skip
    }

    pub(super) fn item(&mut self) {
        self.skip = self.skip.saturating_add(1);
        self.delivered = self.delivered.saturating_add(1);
    }

    /// Records the size of the current page. From here on, `skip` counts items of a page of this size.
    pub(super) fn within_page_of(&mut self, limit: Option<&str>) {
        self.limit = limit.map(str::to_owned);
    }

    /// Records the delivery of the current page without its first `skipped` items. A page of another size may have
    /// fewer items than `skip`. The following pages then skip the rest.
    ///
    /// # Errors
    /// If the list has changed: a page of the same size has fewer items than were already delivered from it, or the
    /// list ends before all of them are skipped.
    pub(super) fn page(
        &mut self,
        skipped: usize,
        delivered: usize,
        next: Option<&str>,
        limit: Option<&str>,
    ) -> Result<(), Error> {
        let left = self.skip - skipped;
        let changed = |what: &str| {
            let left = counted(left, "item");
            let message =
                format!("the {what} ends {left} before the checkpoint: the list has changed");
            Err(Error::pagination(message).with_hint("list again from the start"))
        };
        match next {
            _ if left > 0 && self.limit.as_deref() == limit => return changed("page"),
            None if left > 0 => return changed("list"),
            None => self.finished = true,
            Some(cursor) => self.cursor = Some(cursor.to_owned()),
        }
        self.skip = left;
        if left == 0 {
            self.limit = limit.map(str::to_owned);
        }
        self.delivered = self.delivered.saturating_add(delivered as u64);
        Ok(())
    }

    /// Records the delivery of the current page without its first `skipped` items, if its next cursor repeats an
    /// earlier cursor. The position stays on this page, after its items, so that resuming doesn't deliver them again.
    pub(super) fn page_in_cycle(&mut self, skipped: usize, delivered: usize, limit: Option<&str>) {
        if skipped == self.skip {
            self.skip += delivered;
            self.limit = limit.map(str::to_owned);
            self.delivered = self.delivered.saturating_add(delivered as u64);
        }
    }

    pub(super) fn check_resume(&self, stored: &Self) -> Result<(), Error> {
        let reject = |message: String| Err(Error::pagination(message));
        if stored.version != VERSION {
            return reject(format!(
                "the checkpoint has version {}, but this SDK reads only {VERSION}",
                stored.version
            ));
        }
        if (&stored.application, &stored.operation) != (&self.application, &self.operation) {
            return reject(format!(
                "the checkpoint is for {}.{}, but this stream lists {}.{}",
                one_line(&stored.application),
                one_line(&stored.operation),
                self.application,
                self.operation
            ));
        }
        if stored.filters != self.filters {
            return reject("the checkpoint was taken with different filters".to_owned());
        }
        if stored.audience != self.audience {
            return reject(format!(
                "the checkpoint is for the audience {}, but this stream uses {}",
                one_line(stored.audience.as_deref().unwrap_or("none")),
                self.audience.as_deref().unwrap_or("none")
            ));
        }
        if stored.is_impossible() {
            let message = "the checkpoint is damaged: its counts or its cursor are invalid";
            return reject(message.to_owned());
        }
        Ok(())
    }

    /// Whether the position is impossible in any list.
    fn is_impossible(&self) -> bool {
        let cursor = self.cursor.as_deref().unwrap_or_default();
        self.skip as u64 > self.delivered
            || self.delivered > MOST_DELIVERED
            || cursor.len() > LONGEST_CURSOR
    }
}

/// The page size in the query of a path.
pub(super) fn limit(target: &str) -> Option<String> {
    let (_, query) = target.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, limit) = pairs.find(|(name, _)| name == LIMIT)?;
    Some(limit.into_owned())
}

/// A digest of the path and the query parameters that select items.
pub(super) fn filters(target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs: Vec<_> = form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| !POSITION.contains(&name.as_ref()))
        .collect();
    pairs.sort();
    let mut all = Vec::new();
    let mut add = |text: &str| {
        all.extend((text.len() as u64).to_be_bytes());
        all.extend(text.as_bytes());
    };
    add(path);
    for (name, value) in &pairs {
        add(name);
        add(value);
    }
    hex(&Sha256::hash(&all)[..16])
}

#[cfg(test)]
mod tests {
    use super::filters;

    #[test]
    fn the_digest_depends_on_the_filters_alone() {
        let people = filters("/people?q=ann&status=active");
        assert_eq!(
            people,
            filters("/people?status=active&limit=10&q=ann&cursor=c")
        );
        assert_eq!(people, filters("/people?q=%61nn&status=active"));
        for other in [
            "/people?q=ann",
            "/people?q=anna&status=ctive",
            "/people?q=ann&status=active&x=",
            "/tasks?q=ann&status=active",
            "/people",
        ] {
            assert_ne!(people, filters(other), "{other}");
        }
    }
}
