//! hyper's pool and nothing over it, with the types of [`tuned`](super::tuned): the limit of what can be had. No
//! timeout, no error but a wrong status.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore, pki_types::CertificateDer, pki_types::pem::PemObject as _,
};

use super::exchange::{authorization, command_headers};
use super::{Client, Failure, Seen, Target};
use crate::model::tuned::{CommandResult, EventCommand, Page};
use crate::payload;

type Pool<C> = hyper_util::client::legacy::Client<C, Full<Bytes>>;

#[derive(Clone)]
pub struct Raw(Arc<Inner>);

struct Inner {
    pool: Connections,
    list: String,
    page: Uri,
    command: Uri,
    authorization: HeaderValue,
    event: EventCommand,
}

enum Connections {
    Plain(Pool<HttpConnector>),
    Tls(Pool<HttpsConnector<HttpConnector>>),
}

impl Client for Raw {
    async fn new(target: &Target) -> Result<Self, Failure> {
        let http = target.builder()?.build()?;
        let list = format!("{}{}", target.origin, payload::PAGE_PATH);
        Ok(Self(Arc::new(Inner {
            pool: connections(target)?,
            page: format!("{list}?limit=50").parse()?,
            command: format!("{}{}", target.origin, payload::COMMAND_PATH).parse()?,
            list,
            authorization: authorization(&http, &target.origin).await?,
            event: EventCommand::create(),
        })))
    }

    async fn page(&self, limit: u32, cursor: Option<&str>) -> Result<Seen, Failure> {
        let mut request = Request::new(Full::default());
        let list = &self.0.list;
        *request.uri_mut() = match cursor {
            None if limit == 50 => self.0.page.clone(),
            None => format!("{list}?limit={limit}").parse()?,
            Some(cursor) => format!("{list}?limit={limit}&cursor={cursor}").parse()?,
        };
        let page: Page = self.send(request).await?;
        Ok(page.seen())
    }

    async fn command(&self) -> Result<Seen, Failure> {
        let body = Bytes::from(serde_json::to_vec(&self.0.event)?);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.0.command.clone();
        command_headers(request.headers_mut())?;
        let result: CommandResult = self.send(request).await?;
        Ok(result.seen())
    }
}

impl Raw {
    async fn send<T: serde::de::DeserializeOwned>(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<T, Failure> {
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static("bench/1.0"));
        headers.insert(AUTHORIZATION, self.0.authorization.clone());
        let response = match &self.0.pool {
            Connections::Plain(pool) => pool.request(request).await?,
            Connections::Tls(pool) => pool.request(request).await?,
        };
        if !response.status().is_success() {
            return Err(response.status().to_string().into());
        }
        let body = response.into_body().collect().await?.to_bytes();
        Ok(serde_json::from_str(std::str::from_utf8(&body)?)?)
    }
}

fn connections(target: &Target) -> Result<Connections, Failure> {
    let mut builder = hyper_util::client::legacy::Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new());
    let Some(path) = &target.certificate else {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        builder.http2_only(target.http == 2);
        return Ok(Connections::Plain(builder.build(connector)));
    };
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(path)?)?;
    let config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let https = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_only();
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.enforce_http(false);
    let connector = match target.http {
        2 => https.enable_http2().wrap_connector(connector),
        _ => https.enable_http1().wrap_connector(connector),
    };
    Ok(Connections::Tls(builder.build(connector)))
}
