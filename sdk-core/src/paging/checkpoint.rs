use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind};
use crate::idempotency::hex;

/// The version of the stored form.
const VERSION: u32 = 1;

/// Where a walk stands: enough to go on in another process, without losing or repeating an item.
///
/// It is bound to its operation and filters; a walk with others refuses it. It serialises; the cursor inside is
/// opaque and signed by the server, and how long the server takes it is not shown in the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    version: u32,
    application: String,
    operation: String,
    filters: String,
    /// The cursor of the page to be fetched next; none for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// How many items of that page were delivered already.
    skip: usize,
    delivered: u64,
    finished: bool,
}

impl Checkpoint {
    pub(super) fn start(
        application: &str,
        operation: &str,
        filters: String,
        cursor: Option<String>,
    ) -> Self {
        Self {
            version: VERSION,
            application: application.to_owned(),
            operation: operation.to_owned(),
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

    pub(super) fn skip(&self) -> usize {
        self.skip
    }

    /// One item of the current page was delivered.
    pub(super) fn item(&mut self) {
        self.skip += 1;
        self.delivered += 1;
    }

    /// Several items of the current page were delivered.
    pub(super) fn items(&mut self, count: usize) {
        self.skip += count;
        self.delivered += count as u64;
    }

    /// The current page is done.
    pub(super) fn turn(&mut self, next: Option<&str>) {
        self.skip = 0;
        match next {
            Some(cursor) => self.cursor = Some(cursor.to_owned()),
            None => self.finished = true,
        }
    }

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

/// A digest of path and filters, the cursor left out.
pub(super) fn filters(request: &reqwest::Request) -> String {
    let mut pairs: Vec<(String, String)> = request
        .url()
        .query_pairs()
        .filter(|(name, _)| name != "cursor")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    pairs.sort();
    let mut hash = Sha256::new();
    for text in std::iter::once(request.url().path()).chain(
        pairs
            .iter()
            .flat_map(|(name, value)| [name.as_str(), value]),
    ) {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hex(&hash.finalize()[..16])
}
