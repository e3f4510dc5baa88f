//! Evidence that a request was never begun: its connection did not stand yet.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

thread_local! {
    /// Whether the poll under way ended in a connection that is being made. Connections are made within the request that
    /// wants them, so that both are polled together; one that is finished in the background is polled elsewhere.
    static CONNECTING: Cell<bool> = const { Cell::new(false) };
}

/// Marks connections while they are being made: names, sockets, proxies and TLS handshakes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkConnecting;

impl<S> Layer<S> for MarkConnecting {
    type Service = Marked<S>;

    fn layer(&self, connector: S) -> Marked<S> {
        Marked(connector)
    }
}

/// A connector, or a connection that it makes.
#[derive(Clone)]
pub(super) struct Marked<T>(T);

impl<S, R> Service<R> for Marked<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Marked<Pin<Box<S::Future>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, target: R) -> Self::Future {
        Marked(Box::pin(self.0.call(target)))
    }
}

impl<F: Future + ?Sized> Future for Marked<Pin<Box<F>>> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let polled = self.0.as_mut().poll(context);
        CONNECTING.set(polled.is_pending());
        polled
    }
}

/// A request on its way.
pub(crate) struct Sending<F> {
    request: F,
    connecting: bool,
}

impl<F> Sending<F> {
    pub(crate) fn new(request: F) -> Self {
        Self {
            request,
            connecting: false,
        }
    }

    /// Whether it was last seen waiting for a connection of its own that did not stand yet: nothing of it was sent. When it
    /// waits for anything else, such as a connection that another request is making, nothing is known.
    pub(crate) fn is_connecting(&self) -> bool {
        self.connecting
    }
}

impl<F: Future + Unpin> Future for Sending<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        CONNECTING.set(false);
        let polled = Pin::new(&mut self.request).poll(context);
        self.connecting = CONNECTING.replace(false);
        polled
    }
}
