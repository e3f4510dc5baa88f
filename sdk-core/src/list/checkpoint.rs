use std::borrow::Cow;

use hmac_sha256::{HMAC as Hmac, Hash as Sha256};
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::command::key::hex;
use crate::error::Error;
use crate::error::kind::ErrorKind;
use crate::operation::Operation;
use crate::secret::value::Secret;
use crate::text::{counted, one_line};

/// The version of the stored form.
const VERSION: u32 = 1;

/// More items than any walk delivers.
const LONGEST_WALK: u64 = 1 << 53;

/// A longer cursor fits into no address.
const LONGEST_CURSOR: usize = 64 * 1024;

/// The query parameter that says how long a page is.
const LIMIT: &str = "limit";

/// Query parameters that say where a page begins and how long it is, not what is listed.
const PLACE: [&str; 2] = ["cursor", LIMIT];

/// Where a walk stands: enough to go on in another process, without losing or repeating an item.
///
/// It serialises. Store it together with what was made of the items, in one transaction or one rename, and neither a
/// crash before nor one after loses or doubles anything; `examples/export` does that with files.
///
/// - It is bound to its operation, its filters and the audience of its client: a walk with others refuses it. The size of
///   pages is no filter, so a walk may go on with a smaller `limit`.
/// - Of the filters it holds a digest, which anybody can compute who guesses them: a name that was searched for, say. With
///   [`SuiteBuilder::digest_key`](crate::SuiteBuilder::digest_key) only who has the key can.
/// - A place between two pages is exact for as long as the server takes the cursor. A place *within* a page is the
///   cursor of that page and a count: it is exact as long as the page holds the same items when it is fetched again. If
///   the list changes under the walk, take checkpoints between pages, from [`Pages`](crate::Pages).
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
    /// The installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audience: Option<String>,
    /// The cursor of the page to be fetched next; none for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// How many items from that cursor on were delivered already.
    #[serde(default)]
    skip: usize,
    /// The size of the pages that they are counted in; none for the server's own.
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
            application: Cow::Borrowed(operation.application),
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
        self.skip = self.skip.saturating_add(1);
        self.delivered = self.delivered.saturating_add(1);
    }

    /// The current page was delivered, `skipped` of its items excepted. A page may be shorter than what is to be
    /// skipped, if it is fetched again with another size: the rest is skipped in the following ones.
    ///
    /// # Errors
    /// When the page, fetched again with the same size, has fewer items than were delivered of it, or the list ends before
    /// everything is skipped: it is not the one that the walk began with.
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
            let message = format!(
                "the {what} ends {left} before the place of the checkpoint: it has changed since"
            );
            Err(Error::new(ErrorKind::Pagination, message).hint("start the walk again"))
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
                one_line(&self.application),
                one_line(&self.operation),
                own.application,
                own.operation
            ));
        }
        if self.filters != own.filters {
            return refuse(
                "the checkpoint is of a walk with other filters, or under another `digest_key`"
                    .to_owned(),
            );
        }
        if self.audience != own.audience {
            return refuse(format!(
                "the checkpoint is of the audience {}, this walk of {}",
                one_line(self.audience.as_deref().unwrap_or("none")),
                own.audience.as_deref().unwrap_or("none")
            ));
        }
        // A cursor of that length was made by nobody, and a count of that size was never delivered.
        let absurd = self.skip as u64 > self.delivered
            || self.delivered > LONGEST_WALK
            || self
                .cursor
                .as_ref()
                .is_some_and(|cursor| cursor.len() > LONGEST_CURSOR);
        if absurd {
            return refuse("the checkpoint was damaged: its numbers cannot be".to_owned());
        }
        Ok(())
    }
}

/// The size of pages that a path with its query asks for.
pub(super) fn limit(target: &str) -> Option<String> {
    let (_, query) = target.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, limit) = pairs.find(|(name, _)| name == LIMIT)?;
    Some(limit.into_owned())
}

/// A digest of a path and its query, as far as they select what is listed; under a key if there is one.
pub(super) fn filters(target: &str, key: Option<&Secret>) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs: Vec<_> = form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| !PLACE.contains(&name.as_ref()))
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
    let digest = match key {
        // The builder saw to its length.
        Some(key) => Hmac::mac(&all, key.expose()),
        None => Sha256::hash(&all),
    };
    hex(&digest[..16])
}

#[cfg(test)]
mod tests {
    use crate::secret::value::Secret;

    fn filters(target: &str) -> String {
        super::filters(target, None)
    }

    #[test]
    fn fault_82_under_a_key_nobody_can_guess_the_filters() {
        let (one, other) = (Secret::from("one key"), Secret::from("another"));
        let keyed = super::filters("/people?q=ann", Some(&one));
        assert_ne!(keyed, filters("/people?q=ann"));
        assert_ne!(keyed, super::filters("/people?q=ann", Some(&other)));
        assert_eq!(keyed, super::filters("/people?q=ann&limit=5", Some(&one)));
    }

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
