use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;
use futures_core::stream::FusedStream;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::list::checkpoint::Checkpoint;
use crate::list::pages::Pages;
use crate::macros::debug_fields;

/// A list as a lazy, `'static` stream of items that ends after its first error.
///
/// ```no_run
/// # async fn example(mut people: sdk_core::Items<sdk_core::Record>) -> Result<(), sdk_core::Error> {
/// while let Some(person) = people.try_next().await? {
///     println!("{person}");
/// }
/// # Ok(()) }
/// ```
///
/// [`try_next`](Self::try_next), [`collect`](Self::collect) and [`take`](Self::take) need no other crate. The last two
/// hide the `futures` methods with the same names. The type is also a [`Stream`], so the other combinators of `futures`
/// work. The builder's `limit` is the page size, not the length of the list. [The guide](crate::guide::pagination)
/// describes all lists.
#[must_use = "a stream does nothing until it is polled"]
pub struct Items<T> {
    pages: Pages<T>,
    page: vec::IntoIter<T>,
    /// The position within the current page.
    at: Checkpoint,
    /// Whether the page at `at` arrived without items.
    is_malformed: bool,
    /// The number of items still to deliver, if `take` limits it.
    left: Option<usize>,
}

impl<T: DeserializeOwned + Send + 'static> Pages<T> {
    /// Converts the rest of the list into a stream of its items.
    pub fn items(self) -> Items<T> {
        Items::new(self)
    }
}

impl<T: DeserializeOwned + Send + 'static> Items<T> {
    pub(super) fn new(pages: Pages<T>) -> Self {
        Self {
            at: pages.checkpoint(),
            pages,
            page: Vec::new().into_iter(),
            is_malformed: false,
            left: None,
        }
    }

    /// Resumes at a checkpoint. See [`Pages::resume`].
    pub fn resume(self, from: Checkpoint) -> Self {
        let left = self.left;
        Self {
            left,
            ..Self::new(self.pages.resume(from))
        }
    }

    /// Decodes each further item into your own type. See [the guide](crate::guide::pagination#decode-into-your-own-struct).
    ///
    /// If the current page was only partly delivered, it is fetched again.
    pub fn decode<U: DeserializeOwned + Send + 'static>(self) -> Items<U> {
        let (mut pages, left) = (self.pages.decode(), self.left);
        if !self.page.as_slice().is_empty() {
            pages = pages.back_to(self.at);
        }
        Items {
            left,
            ..Items::new(pages)
        }
    }

    /// Collects all items. Fails if there are more than `at_most`. Fetches at most one page more than needed.
    ///
    /// ```no_run
    /// # async fn example(people: sdk_core::Items<sdk_core::Record>) -> Result<(), sdk_core::Error> {
    /// let people: Vec<_> = people.collect(1_000).await?;
    /// # let _ = people;
    /// # Ok(()) }
    /// ```
    ///
    /// To collect without a limit, import the traits of `futures` and use `try_collect`.
    ///
    /// # Errors
    /// If the list has more items than `at_most`, or a page fails as in [`try_next`](Self::try_next). The items
    /// collected so far are dropped. To preserve them, loop over `try_next`.
    pub async fn collect(mut self, at_most: usize) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        while let Some(item) = self.try_next().await? {
            if items.len() == at_most {
                let message = format!(
                    "the list has more than {at_most} items, the limit passed to `collect`"
                );
                return Err(self.pages.call().failed(Error::pagination(message)));
            }
            items.push(item);
        }
        Ok(items)
    }

    /// Ends the list after this many further items. It fetches only the pages with these items, plus one page if it
    /// [reads ahead](Self::read_ahead).
    ///
    /// After the last item, [`checkpoint`](Self::checkpoint) returns the position after it. [`resume`](Self::resume)
    /// doesn't reset the number of items left.
    ///
    /// ```no_run
    /// # async fn example(people: sdk_core::Items<sdk_core::Record>) -> Result<(), sdk_core::Error> {
    /// let first_ten = people.take(10).collect(10).await?;
    /// # let _ = first_ten;
    /// # Ok(()) }
    /// ```
    pub fn take(mut self, items: usize) -> Self {
        self.left = Some(self.left.map_or(items, |left| left.min(items)));
        self
    }

    /// Fetches the next page while you process the current page. See [`Pages::read_ahead`].
    pub fn read_ahead(mut self) -> Self {
        self.pages = self.pages.read_ahead();
        self
    }

    /// Limits the number of pages. If the list needs more, it ends with an error. See [`Pages::max_pages`].
    pub fn max_pages(mut self, pages: u64) -> Self {
        self.pages = self.pages.max_pages(pages);
        self
    }

    /// Returns the next item, or `None` at the end of the list.
    ///
    /// This method is cancel safe. After a cancellation, the next call continues without losing an item.
    ///
    /// # Errors
    /// If the next page cannot be fetched or has no `items`. The error ends the list. Its checkpoint resumes after the
    /// last delivered item.
    pub async fn try_next(&mut self) -> Result<Option<T>, Error> {
        if let Some(item) = self.next_of_page() {
            return Ok(Some(item));
        }
        std::future::poll_fn(|context| self.poll_item(context))
            .await
            .transpose()
    }

    /// The position after the last delivered item.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        if self.page.as_slice().is_empty() && !self.is_malformed {
            self.pages.checkpoint()
        } else {
            self.at.clone()
        }
    }

    fn next_of_page(&mut self) -> Option<T> {
        let left = self.left.map(|left| left.checked_sub(1));
        if left == Some(None) {
            return None;
        }
        let item = self.page.next()?;
        self.at.item();
        self.left = left.flatten();
        Some(item)
    }

    fn poll_item(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        loop {
            if let Some(item) = self.next_of_page() {
                return Poll::Ready(Some(Ok(item)));
            }
            if self.left == Some(0) || self.pages.is_over() {
                return Poll::Ready(None);
            }
            let before = self.pages.checkpoint();
            match ready!(self.pages.poll_page(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(page)) => {
                    self.at = before;
                    if let Err(error) = page.items() {
                        self.is_malformed = true;
                        self.pages.end();
                        return Poll::Ready(Some(Err(self
                            .pages
                            .call()
                            .response_error(error, &page))));
                    }
                    self.at.within_page_of(self.pages.limit());
                    self.page = page.into_inner().items.unwrap_or_default().into_iter();
                }
            }
        }
    }
}

/// No field needs to stay pinned.
impl<T> Unpin for Items<T> {}

impl<T: DeserializeOwned + Send + 'static> Stream for Items<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_item(context)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let here = self
            .left
            .map_or(self.page.len(), |left| left.min(self.page.len()));
        let most = if self.pages.is_over() {
            Some(here)
        } else {
            self.left
        };
        (here, most)
    }
}

impl<T: DeserializeOwned + Send + 'static> FusedStream for Items<T> {
    fn is_terminated(&self) -> bool {
        let is_over = self.page.as_slice().is_empty() && self.pages.is_over();
        is_over || self.left == Some(0)
    }
}

debug_fields! { Items<T> |it| pages: it.pages, left_of_page: it.page.len() }
