//! Sends requests to a server of its own, and holds each reply to what every reply must be.

use std::collections::HashMap;

use reqwest::Method;
use sdk_reference_server::{App, ReferenceServer, Transport};
use serde_json::Value;

use crate::pool::Pool;
use crate::request::Request;
use crate::spec::{self, Described};

/// What serves the operations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Written,
    /// Their handlers, for the token exchange and what is beside it; for the rest their schemas alone.
    FromSchema,
}

pub(crate) struct Driver {
    pub(crate) peer: ReferenceServer,
    pub(crate) pool: Pool,
    http: reqwest::Client,
    tokens: HashMap<App, String>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Whether it says how to authenticate.
    pub(crate) is_challenge: bool,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Driver {
    pub(crate) async fn start(mode: Mode) -> Driver {
        let mut builder = ReferenceServer::builder().transport(Transport::Hyper);
        if mode == Mode::FromSchema {
            for (app, text) in spec::SPECS {
                let app = App::from_id(app).unwrap();
                // Its tokens are for those who call the others.
                if app != App::Platform {
                    builder = builder.contract(app, text);
                }
            }
        }
        let peer = builder.start().await;
        let mut driver = Driver {
            pool: Pool::default(),
            http: reqwest::Client::new(),
            tokens: HashMap::new(),
            peer,
        };
        for app in App::all() {
            let (id, secret) = (driver.peer.client_id(), driver.peer.client_secret());
            let token = driver.token(app, id, secret).await;
            driver.tokens.insert(app, token);
        }
        driver
    }

    /// A token of a client for an application.
    pub(crate) async fn token(&self, app: App, id: &str, secret: &str) -> String {
        let audience = self.peer.audience(app);
        let request = self
            .http
            .post(self.peer.token_url())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!(
                "grant_type=client_credentials&client_id={id}&client_secret={secret}&audience={audience}"
            ));
        let body = request.send().await.unwrap().text().await.unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        body["access_token"]
            .as_str()
            .unwrap_or_else(|| panic!("{body}"))
            .to_owned()
    }

    /// Sends a request as a client with all rights.
    pub(crate) async fn call(&mut self, operation: &Described, request: &Request) -> Reply {
        let app = App::from_id(operation.app).unwrap();
        let authorization = operation
            .protected
            .then(|| format!("Bearer {}", self.tokens[&app]));
        self.call_as(operation, request, authorization.as_deref())
            .await
    }

    /// Sends a request with this `Authorization`, and checks the reply.
    pub(crate) async fn call_as(
        &mut self,
        operation: &Described,
        request: &Request,
        authorization: Option<&str>,
    ) -> Reply {
        let app = App::from_id(operation.app).unwrap();
        let url = format!("{}{}", self.peer.url(app), request.target());
        let method: Method = operation.method.parse().unwrap();
        let mut sending = self.http.request(method, url).body(request.body.clone());
        for (name, value) in &request.headers {
            sending = sending.header(name, value);
        }
        if let Some(media_type) = request.media_type {
            sending = sending.header("content-type", media_type);
        }
        if let Some(authorization) = authorization {
            sending = sending.header("authorization", authorization);
        }
        let reply = sending
            .send()
            .await
            .unwrap_or_else(|error| panic!("{request:?}: {error}"));
        let status = reply.status().as_u16();
        let about = format!("{} {request:?}: {status}", operation.id);
        let header = |name: &str| {
            reply
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        assert_eq!(header("content-type"), Some("application/json"), "{about}");
        assert!(header("x-request-id").is_some(), "{about}");
        let is_challenge = header("www-authenticate").is_some();
        let text = reply.text().await.unwrap();
        let body: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{about}: {text}"));

        assert!(
            status < 500 && operation.documents(status),
            "{about}: {text}"
        );
        let problem = operation
            .reply(status)
            .and_then(|schema| schema.problem(&body, "body"));
        assert_eq!(problem, None, "{about}: {text}");
        if status < 300 {
            self.pool.harvest(&body);
        }
        Reply {
            status,
            is_challenge,
            text,
            body,
        }
    }
}
