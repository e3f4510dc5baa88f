//! A small HTTP client that adds nothing to its requests.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use sdk_reference_server::{
    App, ClientSpec, Fault, Operation, ReferenceServer, ResponseBody, Transport,
};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

/// Long enough for a busy machine. Longer waits never end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Peer {
    pub(crate) server: ReferenceServer,
    pub(crate) http: reqwest::Client,
    id: String,
    secret: String,
}

/// A response with its complete body.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Got {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn code(&self) -> &str {
        let nested = self.body["error"]["code"].as_str();
        self.body["code"].as_str().or(nested).unwrap_or_default()
    }
}

pub(crate) async fn connect(url: &str) -> TcpStream {
    let address = url.split('/').nth(2).unwrap();
    TcpStream::connect(address).await.unwrap()
}

/// Sends bytes, and returns everything that arrives until the server closes the connection.
pub(crate) async fn raw(url: String, sent: impl AsRef<[u8]>) -> String {
    let mut stream = connect(&url).await;
    stream.write_all(sent.as_ref()).await.unwrap();
    let mut reply = Vec::new();
    let reading = timeout(PATIENCE, stream.read_to_end(&mut reply));
    let _ = reading.await.expect("the server waits for good");
    String::from_utf8_lossy(&reply).into_owned()
}

/// Returns the header (0) or the claims (1) of a token, without checking its signature.
pub(crate) fn part(token: &str, place: usize) -> Value {
    let part = URL_SAFE_NO_PAD.decode(token.split('.').nth(place).unwrap());
    serde_json::from_slice(&part.unwrap()).unwrap()
}

impl Peer {
    pub(crate) async fn start() -> Peer {
        Peer::of(ReferenceServer::start().await)
    }

    /// Starts a server that can break responses.
    pub(crate) async fn on_hyper() -> Peer {
        let builder = ReferenceServer::builder().transport(Transport::Hyper);
        Peer::of(builder.start().await)
    }

    pub(crate) fn of(server: ReferenceServer) -> Peer {
        Peer {
            id: server.client_id().to_owned(),
            secret: server.client_secret().to_owned(),
            http: reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .unwrap(),
            server,
        }
    }

    /// Uses another client from now on.
    pub(crate) fn becomes(&mut self, id: &str, rights: impl FnOnce(ClientSpec) -> ClientSpec) {
        let secret = "another secret";
        self.server.add_client(rights(ClientSpec::new(id, secret)));
        (self.id, self.secret) = (id.to_owned(), secret.to_owned());
    }

    /// Adds a fault that strikes an operation once.
    pub(crate) fn once(&self, operation: Operation) -> Fault {
        self.server.fault(operation).times(1)
    }

    /// Returns the form of a request for a token with all rights.
    pub(crate) fn grant(&self) -> String {
        let (id, secret) = (&self.id, &self.secret);
        format!("grant_type=client_credentials&client_id={id}&client_secret={secret}")
    }

    pub(crate) async fn form(&self, form: &str) -> Got {
        let request = self
            .http
            .post(self.server.token_url())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form.to_owned());
        self.read(request).await
    }

    pub(crate) async fn token(&self, app: App) -> String {
        let form = format!("{}&audience={}", self.grant(), self.server.audience(app));
        let body = self.form(&form).await.expect(200);
        body["access_token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn get(&self, app: App, path: &str) -> Got {
        let token = self.token(app).await;
        self.get_with(app, path, &token).await
    }

    pub(crate) async fn get_with(&self, app: App, path: &str, token: &str) -> Got {
        let url = format!("{}{path}", self.server.url(app));
        self.read(self.http.get(url).bearer_auth(token)).await
    }

    pub(crate) async fn crm(&self, path: &str) -> Got {
        self.get(App::Crm, &format!("/api/crm/v1{path}")).await
    }

    pub(crate) async fn command(&self, body: &Value) -> Got {
        let token = self.token(App::Crm).await;
        let request = self.posting(App::Crm, "/api/crm/v1/commands", body);
        self.read(request.bearer_auth(token)).await
    }

    pub(crate) async fn post_keyed(&self, app: App, path: &str, key: &str, body: &Value) -> Got {
        self.post_text(app, path, key, body.to_string()).await
    }

    /// Posts a body exactly as it is written.
    pub(crate) async fn post_text(&self, app: App, path: &str, key: &str, body: String) -> Got {
        let token = self.token(app).await;
        let request = self.posting(app, path, &Value::Null).bearer_auth(token);
        let request = request.header("idempotency-key", key);
        self.read(request.body(body)).await
    }

    pub(crate) fn posting(&self, app: App, path: &str, body: &Value) -> RequestBuilder {
        self.http
            .post(format!("{}{path}", self.server.url(app)))
            .header("content-type", "application/json")
            .body(body.to_string())
    }

    pub(crate) async fn send(&self, method: Method, app: App, path: &str) -> Got {
        let token = self.token(app).await;
        let url = format!("{}{path}", self.server.url(app));
        let request = self.http.request(method, url);
        self.read(request.bearer_auth(token)).await
    }

    /// Sends a request in memory.
    pub(crate) fn hand(
        &self,
        request: RequestBuilder,
    ) -> impl Future<Output = std::io::Result<http::Response<ResponseBody>>> + use<> {
        let request = request.build().unwrap();
        let request: http::Request<reqwest::Body> = request.try_into().unwrap();
        self.server.service().call(request)
    }

    pub(crate) async fn read(&self, request: RequestBuilder) -> Got {
        self.try_read(request).await.unwrap()
    }

    /// Returns the response, unless the connection breaks before it.
    pub(crate) async fn respond(&self, request: RequestBuilder) -> Option<reqwest::Response> {
        if self.server.transport() != Transport::InMemory {
            return request.send().await.ok();
        }
        let response = self.hand(request).await.ok()?;
        Some(response.map(reqwest::Body::wrap).into())
    }

    /// Returns the complete response, unless the connection breaks before it.
    pub(crate) async fn try_read(&self, request: RequestBuilder) -> Option<Got> {
        let response = self.respond(request).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or_default();
        Some(Got {
            status,
            headers,
            text,
            body,
        })
    }

    /// Returns all items of a list of the CRM, page by page.
    pub(crate) async fn walk(&self, path: &str) -> Vec<Value> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut items = Vec::new();
        let mut next = format!("/api/crm/v1{path}");
        let token = self.token(App::Crm).await;
        loop {
            let page = self.get_with(App::Crm, &next, &token).await.expect(200);
            items.extend(page["items"].as_array().unwrap().clone());
            let Some(cursor) = page["nextCursor"].as_str() else {
                return items;
            };
            next = format!("/api/crm/v1{path}{joint}cursor={cursor}");
        }
    }
}

/// Splits a table into its rows, whose columns are separated by `|`.
pub(crate) fn rows<const N: usize>(table: &str) -> Vec<[&str; N]> {
    let rows = table.trim().lines().map(|row| {
        let cells: Vec<&str> = row.splitn(N, '|').map(str::trim).collect();
        cells.try_into().unwrap()
    });
    rows.collect()
}
