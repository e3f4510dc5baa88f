//! A server that answers at once with what it has ready, and counts what it was asked.
//!
//! | request | reply |
//! |---|---|
//! | `GET` any path, `limit=n`, `cursor=w<left>` | a page of n items; its cursor counts down and ends with `null` |
//! | `POST` any path | the result of a command |
//! | `POST .../oauth/token` | a token; `/t/<delay ms>/<lifetime s>/<status>/oauth/token` says how and when |
//! | `GET /bench/counters` | what was counted since the last time |

use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};

use crate::listener::{Listener, Reply, Server};
use crate::payload;

/// Where a running server is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Address {
    /// Its plain port: HTTP/1.1, and HTTP/2 by prior knowledge.
    pub plain: u16,
    /// Its TLS port: either version by ALPN.
    pub tls: u16,
}

/// What was asked since the last time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Pages given.
    pub pages: u64,
    /// Commands taken.
    pub commands: u64,
    /// Tokens asked for.
    pub tokens: u64,
    /// Requests without a bearer token.
    pub unauthorized: u64,
    /// Commands without an idempotency key.
    pub unkeyed: u64,
    /// Commands whose body was empty or no object.
    pub malformed: u64,
}

/// What all connections have in common.
struct Shared {
    counters: Mutex<Counters>,
    /// Pages of 0 to 50 items, up to the value of their cursor.
    begun: Vec<String>,
    whole: Bytes,
}

/// Serves until its standard input ends. The certificate of its TLS port, which is its own root, goes into a file.
pub async fn serve(certificate: &Path) -> std::io::Result<()> {
    let begun: Vec<String> = (0..=50).map(payload::page_before_cursor).collect();
    let shared = Arc::new(Shared {
        whole: format!("{}\"{}\"}}", begun[50], payload::NEXT_CURSOR).into(),
        begun,
        counters: Mutex::default(),
    });
    let (plain, tls) = (Listener::plain()?, Listener::tls(certificate)?);
    let address = Address {
        plain: plain.port()?,
        tls: tls.port()?,
    };
    tokio::spawn(plain.accept(Arc::clone(&shared)));
    tokio::spawn(tls.accept(shared));
    println!("{}", serde_json::to_string(&address)?);
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}

impl Server for Shared {
    async fn reply(&self, request: Request<Incoming>) -> Reply {
        let path = request.uri().path();
        if path == "/bench/counters" {
            let counters = self.count(std::mem::take);
            let counters = serde_json::to_vec(&counters).unwrap_or_default();
            return json(200, counters.into());
        }
        if let Some(how) = path.strip_suffix("/oauth/token") {
            self.count(|counters| counters.tokens += 1);
            let mut how = how.split('/').skip(2).map(|text| text.parse::<u64>().ok());
            let mut next = |default| how.next().flatten().unwrap_or(default);
            let (delay, lifetime, status) = (next(0), next(300), next(200));
            if delay > 0 {
                tokio::time::sleep(Duration::from_millis(delay)).await;
            }
            return token(status, lifetime);
        }
        if !request.headers().contains_key(AUTHORIZATION) {
            self.count(|counters| counters.unauthorized += 1);
        }
        if request.method() == Method::GET {
            self.count(|counters| counters.pages += 1);
            return json(200, self.page(request.uri().query().unwrap_or_default()));
        }
        self.count(|counters| counters.commands += 1);
        if !request.headers().contains_key("idempotency-key") {
            self.count(|counters| counters.unkeyed += 1);
        }
        if !is_object(request.into_body()).await {
            self.count(|counters| counters.malformed += 1);
        }
        json(201, Bytes::from_static(payload::COMMAND_RESULT.as_bytes()))
    }
}

impl Shared {
    fn page(&self, query: &str) -> Bytes {
        let value = |name: &str| {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        };
        let limit = value("limit")
            .and_then(|limit| limit.parse().ok())
            .unwrap_or(25_usize);
        let left = value("cursor")
            .and_then(|cursor| cursor.strip_prefix('w'))
            .and_then(|left| left.parse::<u64>().ok());
        let begun = &self.begun[limit.min(50)];
        match left {
            None if limit == 50 => self.whole.clone(),
            None => format!("{begun}\"{}\"}}", payload::NEXT_CURSOR).into(),
            Some(0 | 1) => format!("{begun}null}}").into(),
            // Of one length, so that every page of a walk is.
            Some(left) => format!("{begun}\"w{:012}\"}}", left - 1).into(),
        }
    }

    fn count<T>(&self, count: impl FnOnce(&mut Counters) -> T) -> T {
        count(&mut self.counters.lock().expect("nobody panics with it"))
    }
}

async fn is_object(body: Incoming) -> bool {
    body.collect().await.is_ok_and(|body| {
        let body = body.to_bytes();
        body.starts_with(b"{") && body.ends_with(b"}")
    })
}

fn token(status: u64, lifetime: u64) -> Reply {
    if status != 200 {
        let body = Bytes::from_static(br#"{"error":"invalid_client"}"#);
        return json(u16::try_from(status).unwrap_or(500), body);
    }
    // As long as a signed JWT of some claims is.
    let token = format!(
        "eyJhbGciOiJSUzI1NiJ9.{}.{}",
        "c".repeat(420),
        "s".repeat(342)
    );
    let body =
        format!(r#"{{"access_token":"{token}","token_type":"Bearer","expires_in":{lifetime}}}"#);
    json(200, body.into())
}

fn json(status: u16, body: Bytes) -> Reply {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        "x-request-id",
        HeaderValue::from_static("7f8de02c5c4e4cf0a6b5"),
    );
    response
}
