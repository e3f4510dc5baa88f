use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use serde::de::DeserializeOwned;

use super::checkpoint::{self, Checkpoint};
use super::cycle::CycleGuard;
use super::items::Items;
use crate::call::Call;
use crate::error::{Error, ErrorKind};
use crate::json::Page;
use crate::operation::Operation;
use crate::response::Response;

/// Makes the request for the page at a cursor.
type MakeRequest = Arc<dyn Fn(Option<&str>) -> Result<reqwest::Request, Error> + Send + Sync>;

/// A page being fetched.
type Fetch<T> = Pin<Box<dyn Future<Output = Result<Response<Page<T>>, Error>> + Send>>;

/// A list as a stream of pages: lazy, `'static`, over after its first error.
///
/// Nothing is sent before the first page is asked for. An empty page with a cursor goes on; a null, absent or empty
/// cursor ends the walk; a cursor that came before is an error.
///
/// ```no_run
/// # async fn example(mut pages: sdk_core::Pages<sdk_core::Record>) -> Result<(), sdk_core::Error> {
/// while let Some(page) = pages.try_next().await? {
///     println!("{} records", page.items().len());
///     let resume_here = serde_json::to_string(&pages.checkpoint()).expect("a checkpoint is JSON");
/// }
/// # Ok(()) }
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct Pages<T> {
    call: Call,
    make: MakeRequest,
    state: State<T>,
    checkpoint: Checkpoint,
    /// Why the very first request cannot be made.
    refused: Option<Error>,
    guard: CycleGuard,
    read_ahead: bool,
    page_limit: Option<u64>,
    fetched: u64,
}

enum State<T> {
    /// The next page is at the checkpoint's cursor.
    Ready,
    Fetching(Fetch<T>),
    Over,
}

impl<T: DeserializeOwned + Send + 'static> Pages<T> {
    /// A walk that begins at `cursor`, or at the beginning. Generated builders call it.
    #[doc(hidden)]
    pub fn new(
        call: Call,
        cursor: Option<String>,
        make: impl Fn(Option<&str>) -> Result<reqwest::Request, Error> + Send + Sync + 'static,
    ) -> Self {
        let (filters, refused) = match make(cursor.as_deref()) {
            Ok(request) => (checkpoint::filters(&request), None),
            Err(error) => (String::new(), Some(error.of(call.operation()))),
        };
        Self {
            checkpoint: Checkpoint::start(
                call.operation().application,
                call.operation().id,
                filters,
                cursor,
            ),
            call,
            make: Arc::new(make),
            state: State::Ready,
            refused,
            guard: CycleGuard::new(),
            read_ahead: false,
            page_limit: None,
            fetched: 0,
        }
    }

    /// Goes on where a checkpoint was taken.
    ///
    /// # Errors
    /// When the checkpoint is of another operation, of other filters, or of a later SDK.
    pub fn resume(mut self, from: Checkpoint) -> Result<Self, Error> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        from.fits(&self.checkpoint)
            .map_err(|error| error.of(self.call.operation()))?;
        if from.is_finished() {
            self.state = State::Over;
        }
        self.checkpoint = from;
        Ok(self)
    }

    /// The items of all pages.
    pub fn items(self) -> Items<T> {
        Items::new(self)
    }

    /// Fetches the next page while the caller works on the current one. It costs a task per page and at most one page
    /// too many when the walk is dropped early; needs a Tokio runtime.
    pub fn read_ahead(mut self, on: bool) -> Self {
        self.read_ahead = on;
        self
    }

    /// Ends the walk with an error when it wants more pages than this: a guard against a list without an end.
    pub fn max_pages(mut self, pages: u64) -> Self {
        self.page_limit = Some(pages);
        self
    }

    /// The next page; `None` at the end.
    ///
    /// # Errors
    /// When the page cannot be had. The stream is over then; its checkpoint goes on at the page that failed.
    pub async fn try_next(&mut self) -> Result<Option<Response<Page<T>>>, Error> {
        std::future::poll_fn(|context| self.poll_page(context))
            .await
            .transpose()
    }

    /// Where the walk stands: after the page that was delivered last.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        self.checkpoint.clone()
    }

    pub(super) fn operation(&self) -> &'static Operation {
        self.call.operation()
    }

    pub(super) fn poll_page(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Response<Page<T>>, Error>>> {
        loop {
            match &mut self.state {
                State::Over => return Poll::Ready(None),
                State::Ready => match self.begin() {
                    Ok(fetch) => self.state = State::Fetching(fetch),
                    Err(error) => {
                        self.state = State::Over;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                State::Fetching(fetch) => {
                    let page = ready!(fetch.as_mut().poll(context));
                    return Poll::Ready(Some(self.arrived(page)));
                }
            }
        }
    }

    fn begin(&mut self) -> Result<Fetch<T>, Error> {
        let refuse = |message: String| Err(Error::pagination(self.call.operation(), message));
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        if self.page_limit.is_some_and(|most| self.fetched >= most) {
            return refuse(format!(
                "the list has more than the {} pages allowed",
                self.fetched
            ));
        }
        let cursor = self.checkpoint.cursor();
        if cursor.is_some_and(|cursor| self.guard.seen(cursor)) {
            return refuse(format!(
                "the list goes in circles: a cursor came again after {} pages",
                self.fetched
            ));
        }
        Ok(Box::pin(self.call.clone().send((self.make)(cursor))))
    }

    fn arrived(
        &mut self,
        page: Result<Response<Page<T>>, Error>,
    ) -> Result<Response<Page<T>>, Error> {
        let mut page = page.map_err(|error| {
            self.state = State::Over;
            self.explain(error)
        })?;
        self.fetched += 1;
        // A checkpoint within a page: what was delivered of it is not delivered again.
        if let Some(items) = &mut page.value_mut().items {
            items.drain(..self.checkpoint.skip().min(items.len()));
        }
        self.checkpoint.items(page.items().len());
        self.checkpoint.turn(page.next_cursor());
        self.state = if self.checkpoint.is_finished() {
            State::Over
        } else if self.read_ahead {
            match self.begin() {
                Ok(fetch) => State::Fetching(ahead(fetch)),
                Err(error) => State::Fetching(Box::pin(std::future::ready(Err(error)))),
            }
        } else {
            State::Ready
        };
        Ok(page)
    }

    /// A cursor that the server no longer takes looks like any bad request; the caller is told what to do.
    fn explain(&self, error: Error) -> Error {
        if error.status() == Some(400) && self.checkpoint.cursor().is_some() {
            return error.hint(format!(
                "the server does not take this cursor: start the walk again; {} items were delivered so far",
                self.checkpoint.delivered()
            ));
        }
        error
    }
}

/// Drives a fetch in a task of its own, which ends with the walk.
fn ahead<T: Send + 'static>(fetch: Fetch<T>) -> Fetch<T> {
    struct Abort<T>(tokio::task::JoinHandle<T>);

    impl<T> Drop for Abort<T> {
        fn drop(&mut self) {
            self.0.abort();
        }
    }

    let mut task = Abort(tokio::spawn(fetch));
    Box::pin(async move {
        match (&mut task.0).await {
            Ok(page) => page,
            Err(lost) => Err(Error::new(
                ErrorKind::Transport,
                "the read-ahead was lost with its runtime",
            )
            .source(lost)),
        }
    })
}

impl<T: DeserializeOwned + Send + 'static> Stream for Pages<T> {
    type Item = Result<Response<Page<T>>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_page(context)
    }
}

impl<T: DeserializeOwned + Send + 'static> FusedStream for Pages<T> {
    fn is_terminated(&self) -> bool {
        matches!(self.state, State::Over)
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("call", &self.call)
            .field("fetched", &self.fetched)
            .finish_non_exhaustive()
    }
}
