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

/// A list as a stream of items: lazy, `'static`, finished after its first error.
///
/// ```no_run
/// # async fn example(mut people: sdk_core::Items<sdk_core::Record>) -> Result<(), sdk_core::Error> {
/// while let Some(person) = people.try_next().await? {
///     println!("{person}");
/// }
/// # Ok(()) }
/// ```
///
/// [`try_next`](Self::try_next) needs no other crate. As a [`Stream`] it also works with the combinators of `futures`. The
/// builder's `limit` is the page size, not the length of the list: to get ten items, take ten and drop the stream.
/// [The guide](crate::guide::walking) describes all lists.
#[must_use = "a stream does nothing until it is polled"]
pub struct Items<T> {
    pages: Pages<T>,
    page: vec::IntoIter<T>,
    /// The position of the list within the page.
    at: Checkpoint,
    /// Whether the page at `at` arrived without items.
    is_malformed: bool,
}

impl<T: DeserializeOwned + Send + 'static> Pages<T> {
    /// The items of all pages, from here on.
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
        }
    }

    /// Resumes at a checkpoint; see [`Pages::resume`].
    pub fn resume(self, from: Checkpoint) -> Self {
        Self::new(self.pages.resume(from))
    }

    /// The same list from here, with each item decoded into your own type; see
    /// [the guide](crate::guide::walking#types-of-yours).
    ///
    /// A page that was only partly delivered is fetched again.
    pub fn decode<U: DeserializeOwned + Send + 'static>(self) -> Items<U> {
        let pages = self.pages.decode();
        if self.page.as_slice().is_empty() {
            return Items::new(pages);
        }
        Items::new(pages.back_to(self.at))
    }

    /// Fetches the next page while you work on the current one; see [`Pages::read_ahead`].
    pub fn read_ahead(mut self) -> Self {
        self.pages = self.pages.read_ahead();
        self
    }

    /// Ends the list with an error if it needs more pages than this; see [`Pages::max_pages`].
    pub fn max_pages(mut self, pages: u64) -> Self {
        self.pages = self.pages.max_pages(pages);
        self
    }

    /// The next item; `None` at the end.
    ///
    /// Cancel safe: the next call continues, and nothing is lost.
    ///
    /// # Errors
    /// If the next page cannot be fetched or has no items. The list is then over; its checkpoint resumes after the last
    /// delivered item.
    pub async fn try_next(&mut self) -> Result<Option<T>, Error> {
        if let Some(item) = self.page.next() {
            self.at.item();
            return Ok(Some(item));
        }
        std::future::poll_fn(|context| self.poll_item(context))
            .await
            .transpose()
    }

    /// The position of the list: after the last delivered item.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        if self.page.as_slice().is_empty() && !self.is_malformed {
            self.pages.checkpoint()
        } else {
            self.at.clone()
        }
    }

    fn poll_item(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        loop {
            if let Some(item) = self.page.next() {
                self.at.item();
                return Poll::Ready(Some(Ok(item)));
            }
            if self.pages.is_over() {
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

/// Nothing in it is pinned.
impl<T> Unpin for Items<T> {}

impl<T: DeserializeOwned + Send + 'static> Stream for Items<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_item(context)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.page.len();
        (left, self.pages.is_over().then_some(left))
    }
}

impl<T: DeserializeOwned + Send + 'static> FusedStream for Items<T> {
    fn is_terminated(&self) -> bool {
        self.page.as_slice().is_empty() && self.pages.is_over()
    }
}

debug_fields! { Items<T> |it| pages: it.pages, left_of_page: it.page.len() }
