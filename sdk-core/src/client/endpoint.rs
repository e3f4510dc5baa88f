//! Where a client sends requests.

use std::fmt;
use std::sync::{Arc, OnceLock};

use url::Url;

use crate::application::Application;
use crate::observe::attempt::Server;
use crate::operation::Method;
use crate::request::draft::Draft;
use crate::transport::sender::Sender;

/// The address of an application and what sends requests to it.
#[derive(Clone)]
pub struct Endpoint {
    sender: Sender,
    base: String,
    /// The parsed base URL.
    url: Url,
    /// The proxy that the environment names for it.
    proxy: Option<Arc<str>>,
    server: Server,
    /// The URLs of routes without parameters, each made when it is first used.
    fixed: Arc<[(&'static str, OnceLock<Url>)]>,
}

impl Endpoint {
    pub(crate) fn new(
        sender: Sender,
        url: Url,
        proxy: Option<String>,
        application: &Application,
    ) -> Self {
        let operations = application.operations.iter();
        let fixed = operations.filter(|operation| !operation.route.contains('{'));
        Self {
            server: Server::of(&url),
            sender,
            base: url.as_str().trim_end_matches('/').to_owned(),
            url,
            proxy: proxy.map(Arc::from),
            fixed: fixed
                .map(|operation| (operation.route, OnceLock::new()))
                .collect(),
        }
    }

    /// What sends requests to it.
    pub(crate) fn sender(&self) -> &Sender {
        &self.sender
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
        &self.base
    }

    /// Begins a GET of an escaped path, which starts with a slash.
    #[must_use]
    pub fn get(&self, path: &str) -> Draft {
        Draft::new(Method::Get, self.at(path))
    }

    /// Begins a POST to an escaped path, which starts with a slash.
    #[must_use]
    pub fn post(&self, path: &str) -> Draft {
        Draft::new(Method::Post, self.at(path))
    }

    fn at(&self, path: &str) -> Url {
        match self.fixed.iter().find(|(route, _)| *route == path) {
            Some((_, url)) => url.get_or_init(|| self.joined(path)).clone(),
            None => self.joined(path),
        }
    }

    fn joined(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        match self.url.path() {
            "/" => url.set_path(path),
            prefix => url.set_path(&[prefix.trim_end_matches('/'), path].concat()),
        }
        url
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}
