//! Fetches a page, either while the list is polled or in a separate task.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::runtime::{self, Handle};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::error::Error;
use crate::reply::page::Page;
use crate::reply::response::Response;

type Arrived<T> = Result<Response<Page<T>>, Error>;

pub(super) type Fetching<T> = Pin<Box<dyn Future<Output = Arrived<T>> + Send>>;

pub(super) enum Fetch<T> {
    /// Makes progress only while the list is polled. The mutex is never locked. It makes the list `Sync`.
    Here(Mutex<Fetching<T>>),
    /// Makes progress in a task.
    Ahead(Task<T>),
}

impl<T: Send + 'static> Fetch<T> {
    pub(super) fn here(call: Fetching<T>) -> Self {
        Self::Here(Mutex::new(call))
    }

    /// Starts the call immediately, in the caller's span.
    pub(super) fn ahead(call: Fetching<T>) -> Self {
        let task = tokio::spawn(call.in_current_span());
        let runtime = Handle::current().id();
        Self::Ahead(Task { task, runtime })
    }

    /// Polls the fetch. `None` means that its task cannot deliver the page.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Arrived<T>>> {
        let task = match self {
            Self::Here(call) => {
                let call = call.get_mut().unwrap_or_else(PoisonError::into_inner);
                return call.as_mut().poll(context).map(Some);
            }
            Self::Ahead(task) => task,
        };
        let ended = match Pin::new(&mut task.task).poll(context) {
            Poll::Ready(ended) => ended,
            // The task's runtime may have stopped.
            Poll::Pending if !task.is_of_this_runtime() => return Poll::Ready(None),
            Poll::Pending => return Poll::Pending,
        };
        Poll::Ready(match ended {
            Ok(arrived) => Some(arrived),
            Err(lost) => match lost.try_into_panic() {
                // Panics as the call would without a task.
                Ok(panic) => resume_unwind(panic),
                // The task's runtime has shut down.
                Err(_lost) => None,
            },
        })
    }
}

/// A task that is aborted when the list is dropped.
pub(super) struct Task<T> {
    task: JoinHandle<Arrived<T>>,
    runtime: runtime::Id,
}

impl<T> Task<T> {
    fn is_of_this_runtime(&self) -> bool {
        Handle::try_current().is_ok_and(|here| here.id() == self.runtime)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
