//! A page on its way, driven by whoever polls the walk or by a task of its own.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::error::{Error, ErrorKind};
use crate::json::Page;
use crate::response::Response;

type Arrived<T> = Result<Response<Page<T>>, Error>;

/// The call that gets a page.
pub(super) type Fetching<T> = Pin<Box<dyn Future<Output = Arrived<T>> + Send>>;

pub(super) enum Fetch<T> {
    /// Goes on only while the walk is polled. The lock is never taken: it makes the walk `Sync`.
    Here(Mutex<Fetching<T>>),
    /// Goes on by itself.
    Ahead(Task<T>),
}

impl<T: Send + 'static> Fetch<T> {
    pub(super) fn here(call: Fetching<T>) -> Self {
        Self::Here(Mutex::new(call))
    }

    /// Starts at once, in the caller's span.
    pub(super) fn ahead(call: Fetching<T>) -> Self {
        Self::Ahead(Task(tokio::spawn(call.in_current_span())))
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Arrived<T>> {
        let task = match self {
            Self::Here(call) => {
                let call = call.get_mut().unwrap_or_else(PoisonError::into_inner);
                return call.as_mut().poll(context);
            }
            Self::Ahead(task) => task,
        };
        let ended = ready!(Pin::new(&mut task.0).poll(context));
        Poll::Ready(ended.unwrap_or_else(|lost| {
            match lost.try_into_panic() {
                // As it would have been without a task in between.
                Ok(panic) => resume_unwind(panic),
                Err(lost) => Err(Error::new(
                    ErrorKind::Transport,
                    "the read-ahead was lost with its runtime",
                )
                .source(lost)
                .with_retryable(true)),
            }
        }))
    }
}

/// A task that ends with the walk.
pub(super) struct Task<T>(JoinHandle<Arrived<T>>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
