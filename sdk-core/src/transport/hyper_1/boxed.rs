//! Services behind a pointer, whoever made them.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tower_service::Service;

use crate::transport::error::BoxError;

pub(super) struct Boxed<T, U>(Arc<dyn Fn(T) -> Answer<U> + Send + Sync>);
pub(super) type Answer<U> = BoxFuture<'static, Result<U, BoxError>>;

impl<T, U> Clone for Boxed<T, U> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T, U> Boxed<T, U> {
    pub(super) fn new(answer: impl Fn(T) -> Answer<U> + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    pub(super) fn of<S>(service: S) -> Self
    where
        S: Service<T, Response = U> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        T: Send + 'static,
    {
        Self::new(move |request| {
            let mut service = service.clone();
            Box::pin(async move {
                let ready = poll_fn(|context| service.poll_ready(context)).await;
                ready.map_err(Into::into)?;
                service.call(request).await.map_err(Into::into)
            })
        })
    }
}

impl<T, U> Service<T> for Boxed<T, U> {
    type Response = U;
    type Error = BoxError;
    type Future = Answer<U>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: T) -> Answer<U> {
        (self.0)(request)
    }
}
