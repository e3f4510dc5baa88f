use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::error::Error;
use crate::list::checkpoint;
use crate::list::checkpoint::Checkpoint;
use crate::list::cursor_guard::CursorGuard;
use crate::list::fetch::{Fetch, Fetching};
use crate::macros::debug_fields;
use crate::reply::page::Page;
use crate::reply::response::Response;
use crate::request::draft::Draft;

type MakeRequest = Arc<dyn Fn(Option<&str>) -> Result<Draft, Error> + Send + Sync>;

/// A list as a lazy, `'static` stream of pages that ends after its first error.
///
/// Nothing is sent before the stream is first polled. An empty page with a cursor continues the list. A null or empty
/// cursor ends the list. A repeated cursor is an error. [The guide](crate::guide::pagination) describes all lists.
///
/// ```no_run
/// # async fn example(mut pages: sdk_core::Pages<sdk_core::Record>) -> Result<(), sdk_core::Error> {
/// while let Some(page) = pages.try_next().await? {
///     println!("{} records", page.items()?.len());
///     let resume_here = serde_json::to_string(&pages.checkpoint()).expect("a checkpoint is JSON");
/// }
/// # Ok(()) }
/// ```
///
/// Each page is a [`Response`] with the status and the headers. [`bytes`](Response::bytes) returns the JSON as
/// received, which helps to find out why a page has no `items`.
#[must_use = "a stream does nothing until it is polled"]
pub struct Pages<T> {
    call: Call,
    make: MakeRequest,
    state: State<T>,
    checkpoint: Checkpoint,
    /// The page size, if the caller sets it.
    limit: Option<String>,
    /// The error that prevents the next request.
    failure: Option<Error>,
    rejected_checkpoint: Option<Checkpoint>,
    guard: CursorGuard,
    read_ahead: bool,
    page_limit: Option<u64>,
    fetched: u64,
}

enum State<T> {
    /// The next page to fetch is at the checkpoint's cursor.
    Ready,
    Fetching(Fetch<T>),
    Over,
}

impl<T: DeserializeOwned + Send + 'static> Pages<T> {
    /// Creates a list that starts at `cursor`, or at the beginning. Generated builders call it.
    #[doc(hidden)]
    pub fn new(
        call: Call,
        cursor: Option<String>,
        make: impl Fn(Option<&str>) -> Result<Draft, Error> + Send + Sync + 'static,
    ) -> Self {
        // The filters come from the final request, so equal requests have equal filters.
        let (filters, limit, failure) = match call.target(make(cursor.as_deref())) {
            Ok(target) => {
                let filters = checkpoint::filters(&target);
                (filters, checkpoint::limit(&target), None)
            }
            Err(error) => (String::new(), None, Some(error)),
        };
        let audience = call.client.audience();
        Self {
            checkpoint: Checkpoint::start(
                call.operation(),
                audience,
                filters,
                cursor,
                limit.clone(),
            ),
            limit,
            call,
            make: Arc::new(make),
            state: State::Ready,
            failure,
            rejected_checkpoint: None,
            guard: CursorGuard::new(),
            read_ahead: false,
            page_limit: None,
            fetched: 0,
        }
    }

    /// Resumes at a checkpoint, regardless of the current position. To continue after an error, write
    /// `let at = pages.checkpoint(); pages = pages.resume(at);`.
    ///
    /// If the checkpoint lies within a page, the first page omits the items that were already delivered. Its
    /// [`bytes`](Response::bytes) are complete.
    ///
    /// If the checkpoint has a different operation, audience, version or filters, the first poll fails and sends
    /// nothing. [`checkpoint`](Self::checkpoint) still returns the checkpoint that you passed.
    pub fn resume(mut self, from: Checkpoint) -> Self {
        if self.failure.is_some() {
            return self;
        }
        match self.checkpoint.check_resume(&from) {
            Ok(()) => self.at(from),
            Err(error) => {
                self.failure = Some(self.call.failed(error));
                self.rejected_checkpoint = Some(from);
                self.state = State::Ready;
                self
            }
        }
    }

    /// Returns to a position within the last page, which is then fetched again.
    pub(super) fn back_to(mut self, checkpoint: Checkpoint) -> Self {
        self.fetched -= 1;
        self.at(checkpoint)
    }

    fn at(mut self, checkpoint: Checkpoint) -> Self {
        self.state = if checkpoint.is_finished() {
            State::Over
        } else {
            State::Ready
        };
        self.guard = CursorGuard::new();
        self.rejected_checkpoint = None;
        self.checkpoint = checkpoint;
        self
    }

    /// Decodes each further record into your own type while its page is decoded. This is half the work of
    /// [`Record::decode`](crate::Record::decode) for each record. See
    /// [the guide](crate::guide::pagination#decode-into-your-own-struct).
    pub fn decode<U: DeserializeOwned + Send + 'static>(self) -> Pages<U> {
        // A fetch in flight is dropped and repeated.
        let state = match self.state {
            State::Ready | State::Fetching(_) => State::Ready,
            State::Over => State::Over,
        };
        Pages {
            call: self.call,
            make: self.make,
            state,
            checkpoint: self.checkpoint,
            limit: self.limit,
            failure: self.failure,
            rejected_checkpoint: self.rejected_checkpoint,
            guard: self.guard,
            read_ahead: self.read_ahead,
            page_limit: self.page_limit,
            fetched: self.fetched,
        }
    }

    /// Fetches the next page while you process the current page, so that network and processing overlap.
    ///
    /// When a page arrives, a task on the Tokio runtime that polls the list fetches the next page. Dropping the list
    /// aborts the task, so at most one page is fetched in vain. The pages, their order and the checkpoints stay the
    /// same. On a single-threaded runtime, this doesn't help a consumer that computes without awaiting.
    pub fn read_ahead(mut self) -> Self {
        self.read_ahead = true;
        self
    }

    /// Limits the number of pages, as a guard against endless lists. If the list needs more, it ends with an error.
    /// Without a limit, only cycles of at most 4,096 cursors are detected.
    pub fn max_pages(mut self, pages: u64) -> Self {
        self.page_limit = Some(pages);
        self
    }

    /// Returns the next page, or `None` at the end of the list.
    ///
    /// This method is cancel safe. After a cancellation, the next call continues without losing a page.
    ///
    /// # Errors
    /// If the page cannot be fetched. The error ends the list. Its checkpoint resumes at the page that failed.
    pub async fn try_next(&mut self) -> Result<Option<Response<Page<T>>>, Error> {
        std::future::poll_fn(|context| self.poll_page(context))
            .await
            .transpose()
    }

    /// The position after the last delivered page.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        self.rejected_checkpoint
            .as_ref()
            .unwrap_or(&self.checkpoint)
            .clone()
    }

    pub(super) fn call(&self) -> &Call {
        &self.call
    }

    pub(super) fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    pub(super) fn end(&mut self) {
        self.state = State::Over;
    }

    pub(super) fn poll_page(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Response<Page<T>>, Error>>> {
        // The state stays `Over` after an error, or after a panic in the caller's decoder.
        let mut fetch = match mem::replace(&mut self.state, State::Over) {
            State::Over => return Poll::Ready(None),
            State::Fetching(fetch) => fetch,
            State::Ready => match self.begin() {
                Ok(call) => Fetch::here(call),
                Err(error) => return Poll::Ready(Some(Err(error))),
            },
        };
        loop {
            match fetch.poll(context) {
                Poll::Pending => {
                    self.state = State::Fetching(fetch);
                    return Poll::Pending;
                }
                // The list has moved to another runtime, so this runtime fetches the page again.
                Poll::Ready(None) => fetch = Fetch::here(self.fetching()),
                Poll::Ready(Some(Ok(page))) => return Poll::Ready(Some(self.arrived(page))),
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Some(Err(self.explain(error))));
                }
            }
        }
    }

    fn fetching(&self) -> Fetching<T> {
        let request = (self.make)(self.checkpoint.cursor());
        Box::pin(self.call.clone().send(request))
    }

    fn begin(&mut self) -> Result<Fetching<T>, Error> {
        let reject = |message: String| Err(self.call.failed(Error::pagination(message)));
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if self.page_limit.is_some_and(|most| self.fetched >= most) {
            return reject(format!(
                "the list has more than {} pages, the limit set with `max_pages`",
                self.fetched
            ));
        }
        let cursor = self.checkpoint.cursor();
        if cursor.is_some_and(|cursor| self.guard.knows(cursor)) {
            return reject(format!(
                "the list never ends: the server repeated a cursor after {} pages; {} items were delivered so far",
                self.fetched,
                self.checkpoint.delivered()
            ));
        }
        Ok(self.fetching())
    }

    /// Moves the checkpoint past a page that has arrived.
    fn arrived(&mut self, mut page: Response<Page<T>>) -> Result<Response<Page<T>>, Error> {
        self.fetched += 1;
        if let Some(cursor) = self.checkpoint.cursor() {
            self.guard.remember(cursor);
        }
        let mut skipped = 0;
        if let Some(items) = &mut page.value_mut().items {
            skipped = self.checkpoint.skip().min(items.len());
            items.drain(..skipped);
        }
        let delivered = page.items.as_ref().map_or(0, Vec::len);
        let next = page.next_cursor();
        let limit = self.limit.as_deref();
        let is_cycle = next.is_some_and(|next| self.guard.knows(next));
        let moved = expected_status(&page).and_then(|()| {
            if is_cycle {
                self.checkpoint.page_in_cycle(skipped, delivered, limit);
                return Ok(());
            }
            self.checkpoint.page(skipped, delivered, next, limit)
        });
        if let Err(error) = moved {
            return Err(self.call.response_error(error, &page));
        }
        self.state = if self.checkpoint.is_finished() {
            State::Over
        } else if self.read_ahead
            && let Ok(call) = self.begin()
        {
            State::Fetching(Fetch::ahead(call))
        } else {
            State::Ready
        };
        Ok(page)
    }

    /// Adds a hint to a 400 if the request had a cursor. A rejected cursor looks like any other bad request.
    fn explain(&self, error: Error) -> Error {
        if error.status() == Some(400) && self.checkpoint.cursor().is_some() {
            return error.with_hint(format!(
                "if the server rejected the cursor, list again from the start; {} items were delivered so far",
                self.checkpoint.delivered()
            ));
        }
        error
    }
}

fn expected_status<T>(page: &Response<Page<T>>) -> Result<(), Error> {
    let (status, known) = (page.http_status(), page.api_operation().statuses);
    if known.is_empty() || known.contains(&status) {
        return Ok(());
    }
    let message = format!("the page has the status {status}, which the contract does not document");
    Err(Error::pagination(message))
}

impl<T: DeserializeOwned + Send + 'static> Stream for Pages<T> {
    type Item = Result<Response<Page<T>>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_page(context)
    }
}

impl<T: DeserializeOwned + Send + 'static> FusedStream for Pages<T> {
    fn is_terminated(&self) -> bool {
        self.is_over()
    }
}

debug_fields! { Pages<T> |it| call: it.call, fetched: it.fetched, delivered: it.checkpoint.delivered() }
