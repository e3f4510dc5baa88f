//! The way to one origin.

use std::sync::Arc;

use http::header::{HOST, PROXY_AUTHORIZATION};
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use hyper_util::client::legacy::connect::capture_connection;
use tokio::time::Instant;
use url::{Position, Url};

use crate::macros::debug_fields;
use crate::transport::error::{BoxError, TransportError};
use crate::transport::hyper_1::client::HyperClient;
use crate::transport::hyper_1::connector::is_plain;
use crate::transport::hyper_1::sending::{Retire, Sending, Spoken};
use crate::transport::outgoing::Outgoing;
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
    proxy_credential: Option<HeaderValue>,
}

impl Lane {
    /// The way to an address. What TLS needs is there from now on.
    pub(in crate::transport) fn to(client: &HyperClient, url: &Url) -> Result<Self, BoxError> {
        let uri: Uri = url.as_str().parse()?;
        let proxy_credential = client.proxy_credential(&uri)?;
        let is_plain = is_plain(&uri);
        if !is_plain {
            client.settings.tls()?;
        }
        let parts = uri.into_parts();
        let (scheme, authority) = parts.scheme.zip(parts.authority).ok_or("it has no host")?;
        let is_http1 = is_plain && !client.settings.http2_only;
        let host = is_http1.then(|| authority.as_str().parse()).transpose()?;
        Ok(Self(Arc::new(Origin {
            client: client.clone(),
            prefix: url[..Position::BeforePath].to_owned() + "/",
            scheme,
            authority,
            host,
            spoken: Spoken::default(),
            proxy_credential,
        })))
    }

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
            if let Some(credential) = &origin.proxy_credential {
                headers.insert(PROXY_AUTHORIZATION, credential.clone());
            }
            if cfg!(feature = "http2") && origin.host.is_none() && !origin.spoken.is_http1() {
                connection = Some(capture_connection(&mut request));
            }
            origin.client.pool.request(request)
        });
        Sending {
            response: response.map_err(TransportError::refused),
            retire: Some(Retire { connection, until }),
            spoken: origin.spoken.clone(),
        }
    }
}

impl Origin {
    /// An address of this origin. Its text is not parsed again as far as all addresses share it.
    fn uri(&self, url: &Url) -> Result<Uri, BoxError> {
        if !url.as_str().starts_with(&self.prefix) {
            return Err("it leads to another origin".into());
        }
        let mut parts = Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        let path = &url[Position::BeforePath..Position::AfterQuery];
        parts.path_and_query = Some(path.parse::<PathAndQuery>()?);
        Ok(Uri::from_parts(parts)?)
    }
}

debug_fields! { Lane |it| origin: it.0.prefix }
