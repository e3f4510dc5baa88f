//! The way to one origin.

use std::sync::Arc;

use http::header::{HOST, PROXY_AUTHORIZATION};
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use hyper_util::client::legacy::connect::capture_connection;
use tokio::time::Instant;
use url::{Position, Url};

use crate::shown::shows;
use crate::transport::error::{BoxError, TransportError};
use crate::transport::hyper_1::client::HyperClient;
use crate::transport::hyper_1::connector::checked;
use crate::transport::hyper_1::sending::{Retire, Sending, Spoken};
use crate::transport::outgoing::Outgoing;
use crate::transport::proxy;
use crate::transport::request::Begun;

/// The way to one origin, with what all requests to it have in common.
#[derive(Clone)]
pub struct Lane(Arc<Origin>);

struct Origin {
    client: HyperClient,
    /// The beginning of all of its addresses, up to the slash.
    prefix: String,
    scheme: Scheme,
    authority: Authority,
    /// What requests of HTTP/1.1 name, where they are surely that.
    host: Option<HeaderValue>,
    spoken: Spoken,
    proxy_authorization: Option<HeaderValue>,
}

impl HyperClient {
    /// The way to an address, and whether it can be gone: TLS is set up now.
    pub(in crate::transport) fn lane(&self, url: &Url) -> Result<Lane, BoxError> {
        let uri: Uri = url.as_str().parse()?;
        if uri.scheme() == Some(&Scheme::HTTPS) && self.0.settings.own.is_none() {
            self.0.settings.tls()?;
        }
        if let Some(proxy) = self.0.settings.proxy_of(&uri) {
            checked(&proxy)?;
        }
        let parts = uri.clone().into_parts();
        let (scheme, authority) = parts.scheme.zip(parts.authority).ok_or("it has no host")?;
        let settings = &self.0.settings;
        let is_plain_http1 =
            scheme == Scheme::HTTP && !settings.http2_only && settings.own.is_none();
        let origin = Origin {
            client: self.clone(),
            prefix: url[..Position::BeforePath].to_owned() + "/",
            host: is_plain_http1
                .then(|| authority.as_str().parse())
                .transpose()?,
            spoken: Spoken::default(),
            proxy_authorization: self.proxy_authorization(&uri),
            scheme,
            authority,
        };
        Ok(Lane(Arc::new(origin)))
    }

    /// The proxy in front of an address, without its credential, for error texts.
    pub(in crate::transport) fn proxy_for(&self, url: &Url) -> Option<String> {
        let proxy = self.0.settings.proxy_of(&url.as_str().parse().ok()?)?;
        proxy::named(proxy.uri())
    }

    /// Whether names that stand for loopback are bound to it.
    pub(in crate::transport) fn pins(&self) -> bool {
        self.0.settings.own.is_none()
    }

    /// How long a connection may take to come up.
    pub(in crate::transport) fn connect_timeout(&self) -> std::time::Duration {
        self.0.settings.timeout
    }
}

impl Lane {
    /// Starts a request, which is given up when its time is up.
    pub(in crate::transport) fn send(
        &self,
        outgoing: Outgoing,
        begun: Option<&Begun>,
        until: Instant,
    ) -> Sending {
        let (origin, mut connection) = (&*self.0, None);
        let response = origin.uri(&outgoing.url).map(|uri| {
            let mut request = outgoing.into_request(uri, begun);
            let headers = request.headers_mut();
            if let Some(host) = &origin.host {
                headers.entry(HOST).or_insert_with(|| host.clone());
            }
            if let Some(credential) = &origin.proxy_authorization {
                headers.insert(PROXY_AUTHORIZATION, credential.clone());
            }
            if cfg!(feature = "http2") && origin.host.is_none() && !origin.spoken.is_http1() {
                connection = Some(capture_connection(&mut request));
            }
            origin.client.0.pool.request(request)
        });
        Sending {
            response: response.map_err(TransportError::refused),
            retire: Retire { connection, until },
            spoken: origin.spoken.clone(),
        }
    }
}

shows! { Lane |it| origin: it.0.prefix }

impl Origin {
    /// An address of this origin. Its text is not parsed again as far as all addresses share it.
    fn uri(&self, url: &Url) -> Result<Uri, BoxError> {
        if !url.as_str().starts_with(&self.prefix) {
            return Err("it leads to another origin".into());
        }
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let mut parts = Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path.parse::<PathAndQuery>()?);
        Ok(Uri::from_parts(parts)?)
    }
}
