//! A client that knows no rule: what the SDK refuses to send goes out all the same.

use reqwest::header::HeaderMap;
use sdk_reference_server::{App, ReferenceServer};
use serde_json::Value;

use super::world::http;

pub(super) struct Bypass {
    http: reqwest::Client,
    origin: String,
    token: String,
}

/// A reply, read whole.
#[derive(Debug)]
pub(super) struct Plain {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Bypass {
    /// With a token for one application.
    pub(super) async fn to(server: &ReferenceServer, app: App) -> Bypass {
        let http = http().build().unwrap();
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&audience={}",
            server.client_id(),
            server.client_secret(),
            server.audience(app)
        );
        let exchange = http
            .post(server.token_url())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form);
        let reply = read(exchange).await;
        Bypass {
            http,
            origin: server.url(app),
            token: reply.body["access_token"].as_str().unwrap().to_owned(),
        }
    }

    /// Gets a path and query, given as they go over the wire.
    pub(super) async fn get(&self, target: &str) -> Plain {
        self.send(self.http.get(self.url(target))).await
    }

    /// Posts JSON, with an idempotency key if there is one.
    pub(super) async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Plain {
        let request = self.http.post(self.url(path)).body(body.to_string());
        let request = request.header("content-type", "application/json");
        self.send(match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        })
        .await
    }

    fn url(&self, target: &str) -> String {
        format!("{}{target}", self.origin)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Plain {
        read(request.bearer_auth(&self.token)).await
    }
}

async fn read(request: reqwest::RequestBuilder) -> Plain {
    let reply = request.send().await.unwrap();
    Plain {
        status: reply.status().as_u16(),
        headers: reply.headers().clone(),
        body: serde_json::from_str(&reply.text().await.unwrap()).unwrap_or_default(),
    }
}
