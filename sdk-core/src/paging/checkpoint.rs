use std::borrow::Cow;

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::error::{Error, ErrorKind};
use crate::idempotency::hex;
use crate::operation::Operation;

/// The version of the stored form.
const VERSION: u32 = 1;

/// Query parameters that say where a page begins and how long it is, not what is listed.
const PLACE: [&str; 2] = ["cursor", "limit"];

/// Where a walk stands: enough to go on in another process, without losing or repeating an item.
///
/// It serialises. Store it together with what was made of the items, in one transaction or one rename, and neither a
/// crash before nor one after loses or doubles anything; `examples/export` does that with files.
///
/// - It is bound to its operation and filters: a walk with others refuses it. The size of pages is no filter, so a walk
///   may go on with a smaller `limit`.
/// - A place between two pages is exact for as long as the server takes the cursor. A place *within* a page is the
///   cursor of that page and a count: it is exact as long as the page holds the same items when it is fetched again. If
///   the list changes under the walk, take checkpoints between pages, from [`Pages`](super::Pages).
/// - The cursor inside is opaque and made by the server. The contract does not say how long it is taken, nor
///   whether another client may use it. When it is refused, the error says so, and the walk has to start again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    version: u32,
    // What another version may lack has a default, so that the version is what the error speaks of.
    #[serde(default)]
    application: Cow<'static, str>,
    #[serde(default)]
    operation: Cow<'static, str>,
    #[serde(default)]
    filters: String,
    /// The cursor of the page to be fetched next; none for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// How many items from that cursor on were delivered already.
    #[serde(default)]
    skip: usize,
    #[serde(default)]
    delivered: u64,
    #[serde(default)]
    finished: bool,
}

impl Checkpoint {
    pub(super) fn start(operation: &Operation, filters: String, cursor: Option<String>) -> Self {
        Self {
            version: VERSION,
            application: Cow::Borrowed(operation.application),
            operation: Cow::Borrowed(operation.id),
            filters,
            cursor,
            skip: 0,
            delivered: 0,
            finished: false,
        }
    }

    /// The operation that is walked.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// How many items were delivered, over all processes.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether the walk reached the end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The cursor of the page that is fetched next; `None` for the first one.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// How many items from the cursor on are not to be delivered again.
    pub(super) fn skip(&self) -> usize {
        self.skip
    }

    /// One item of the current page was delivered.
    pub(super) fn item(&mut self) {
        self.skip += 1;
        self.delivered += 1;
    }

    /// The current page was delivered, `skipped` of its items excepted. A page may be shorter than what is to be
    /// skipped, if it is fetched again with another size: the rest is skipped in the following ones.
    pub(super) fn page(&mut self, skipped: usize, delivered: usize, next: Option<&str>) {
        self.delivered += delivered as u64;
        if let Some(cursor) = next {
            self.skip -= skipped;
            self.cursor = Some(cursor.to_owned());
        } else {
            self.skip = 0;
            self.finished = true;
        }
    }

    /// Whether a walk that begins as `own` can go on here.
    pub(super) fn fits(&self, own: &Self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::new(ErrorKind::Pagination, message));
        if self.version != VERSION {
            return refuse(format!(
                "the checkpoint has version {}, this SDK knows {VERSION}",
                self.version
            ));
        }
        if (&self.application, &self.operation) != (&own.application, &own.operation) {
            return refuse(format!(
                "the checkpoint is of {}.{}, this walk of {}.{}",
                self.application, self.operation, own.application, own.operation
            ));
        }
        if self.filters != own.filters {
            return refuse("the checkpoint is of a walk with other filters".to_owned());
        }
        Ok(())
    }
}

/// A digest of a path and its query, as far as they select what is listed.
pub(super) fn filters(target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs: Vec<_> = form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| !PLACE.contains(&name.as_ref()))
        .collect();
    pairs.sort();
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    add(path);
    for (name, value) in &pairs {
        add(name);
        add(value);
    }
    hex(&hash.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use super::filters;

    #[test]
    fn filters_are_what_selects_the_items() {
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
