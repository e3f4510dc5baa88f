//! Where a client sends requests.

use std::sync::{Arc, OnceLock};

use url::Url;

use crate::application::Application;
use crate::macros::debug_fields;
use crate::observe::attempt::Server;
use crate::operation::Method;
use crate::request::draft::Draft;
use crate::transport::connections::Sender;

/// The address of an application and what sends requests to it.
#[derive(Clone)]
pub struct Endpoint {
    sender: Sender,
    /// The base URL.
    url: Arc<Url>,
    /// The proxy that the environment names for it.
    proxy: Option<Arc<str>>,
    server: Server,
    application: &'static Application,
    /// The URLs of routes without parameters, made when any of them is first used.
    fixed: OnceLock<Arc<[Fixed]>>,
}

/// A route without parameters, and its URL once it was used.
type Fixed = (&'static str, OnceLock<Box<Url>>);

impl Endpoint {
    pub(crate) fn new(
        sender: Sender,
        url: Arc<Url>,
        proxy: Option<String>,
        application: &'static Application,
    ) -> Self {
        Self {
            server: Server::of(&url),
            sender,
            url,
            proxy: proxy.map(Arc::from),
            application,
            fixed: OnceLock::new(),
        }
    }

    /// What sends requests to it.
    pub(crate) fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(crate) fn application(&self) -> &'static Application {
        self.application
    }

    /// Host and port, for observers.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// The base URL.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The proxy that the environment names for it, without its credential.
    pub(crate) fn proxy(&self) -> Option<&str> {
        self.proxy.as_deref()
    }

    /// The base URL without a trailing slash.
    #[must_use]
    pub fn base(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Begins a `Get` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn get(&self, path: &str) -> Draft {
        Draft::new(Method::Get, self.at(path))
    }

    /// Begins a `Post` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn post(&self, path: &str) -> Draft {
        Draft::new(Method::Post, self.at(path))
    }

    /// Begins a `Put` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn put(&self, path: &str) -> Draft {
        Draft::new(Method::Put, self.at(path))
    }

    /// Begins a `Patch` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn patch(&self, path: &str) -> Draft {
        Draft::new(Method::Patch, self.at(path))
    }

    /// Begins a `Delete` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn delete(&self, path: &str) -> Draft {
        Draft::new(Method::Delete, self.at(path))
    }

    fn at(&self, path: &str) -> Url {
        let fixed = self.fixed.get_or_init(|| self.routes());
        match fixed.iter().find(|(route, _)| *route == path) {
            Some((_, url)) => Url::clone(url.get_or_init(|| Box::new(self.joined(path)))),
            None => self.joined(path),
        }
    }

    fn routes(&self) -> Arc<[Fixed]> {
        let routes = self.application.operations.iter().map(|it| it.route);
        let fixed = routes.filter(|route| !route.contains('{'));
        fixed.map(|route| (route, OnceLock::new())).collect()
    }

    fn joined(&self, path: &str) -> Url {
        let mut url = Url::clone(&self.url);
        match self.url.path() {
            "/" => url.set_path(path),
            prefix => url.set_path(&[prefix.trim_end_matches('/'), path].concat()),
        }
        url
    }
}

debug_fields! { Endpoint |it| base: it.base() }
