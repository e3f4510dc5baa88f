//! Hyper's connection pool alone, with the types of [`tuned`](super::tuned): the lower bound for every client. This
//! client has no timeout and treats only an unexpected status as an error.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client as Pool, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::{Client, Failure, Target, authorization, command_headers};
use crate::model::{CommandResult, EventCommand, Page, tuned::Opportunity};
use crate::payload;

#[derive(Clone)]
pub struct Raw {
    pool: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    page: Uri,
    command: Uri,
    authorization: HeaderValue,
    event: EventCommand<Timestamp>,
}

impl Client for Raw {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let (origin, path) = (&target.origin, payload::PAGE_PATH);
        Ok(Self {
            pool: Pool::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .http2_only(target.http2)
                .build(connector(target)?),
            page: format!("{origin}{path}?limit={}", payload::ITEMS).parse()?,
            command: format!("{origin}{}", payload::COMMAND_PATH).parse()?,
            authorization: authorization()?,
            event: serde_json::from_value(payload::event())?,
        })
    }

    async fn page(&self) -> Result<u64, Failure> {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = self.page.clone();
        let page: Page<Opportunity> = self.send(request).await?;
        Ok(page.items.iter().map(|item| item.record_version).sum())
    }

    async fn command(&self) -> Result<u64, Failure> {
        let body = Bytes::from(serde_json::to_vec(&self.event)?);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.command.clone();
        command_headers(request.headers_mut())?;
        let result: CommandResult = self.send(request).await?;
        Ok(result.record_version)
    }
}

impl Raw {
    async fn send<T: DeserializeOwned>(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<T, Failure> {
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static("bench/1.0"));
        headers.insert(AUTHORIZATION, self.authorization.clone());
        let response = self.pool.request(request).await?;
        if !response.status().is_success() {
            return Err(response.status().to_string().into());
        }
        let body = response.into_body().collect().await?.to_bytes();
        Ok(serde_json::from_str(std::str::from_utf8(&body)?)?)
    }
}

fn connector(target: &Target) -> Result<HttpsConnector<HttpConnector>, Failure> {
    let mut tcp = HttpConnector::new();
    tcp.set_nodelay(true);
    tcp.enforce_http(false);
    let mut tls = target.tls()?;
    // The builder sets the protocols.
    tls.alpn_protocols.clear();
    let https = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http();
    Ok(match target.http2 {
        true => https.enable_http2().wrap_connector(tcp),
        false => https.enable_http1().wrap_connector(tcp),
    })
}
