//! Names and their addresses.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use futures_util::future::{BoxFuture, ready};
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use crate::transport::error::BoxError;
use crate::transport::loopback::is_loopback_name;

/// A service behind a pointer.
pub(super) type Shared<T, U> = Arc<dyn Fn(T) -> Answer<U> + Send + Sync>;
type Answer<U> = BoxFuture<'static, Result<U, BoxError>>;

/// Puts a service behind a pointer, and what it answers into another form.
pub(super) fn share<S, T, U>(service: S, form: fn(S::Response) -> U) -> Shared<T, U>
where
    S: Service<T> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    T: Send + 'static,
    U: 'static,
{
    Arc::new(move |request| {
        let mut service = service.clone();
        Box::pin(async move {
            let ready = poll_fn(|context| service.poll_ready(context)).await;
            ready.map_err(Into::into)?;
            service.call(request).await.map(form).map_err(Into::into)
        })
    })
}

/// The system's resolver or the caller's. Names that stand for loopback bypass it.
#[derive(Clone)]
pub(super) struct Resolver(Shared<Name, vec::IntoIter<SocketAddr>>);

impl Resolver {
    pub(super) fn of<R>(resolver: R) -> Self
    where
        R: Service<Name> + Clone + Send + Sync + 'static,
        R::Response: Iterator<Item = SocketAddr>,
        R::Future: Send,
        R::Error: Into<BoxError>,
    {
        Self(share(resolver, |addresses| {
            addresses.collect::<Vec<_>>().into_iter()
        }))
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::of(GaiResolver::new())
    }
}

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Answer<Self::Response>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        if is_loopback_name(name.as_str()) {
            // Without a port: that of the address counts.
            let both: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            let both = both.map(|address| SocketAddr::new(address, 0));
            return Box::pin(ready(Ok(Vec::from(both).into_iter())));
        }
        (self.0)(name)
    }
}
