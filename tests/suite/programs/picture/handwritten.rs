//! A handwritten retry loop of a service without the SDK: three attempts, with a new key for each.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::{BodyExt as _, Full};
use sdk_reference_server::{InMemoryService, Operation, ReferenceServer};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use tower_service::Service as _;

use super::{Failure, Lane, Sent, lane, server};

type Reply = Result<(u16, Value), Failure>;

pub(super) async fn run() -> Result<Lane, Failure> {
    let server = server();
    let mut invoices = Invoices {
        http: server.service(),
        token: token(&server).await?,
        keys: fastrand::Rng::with_seed(4),
        server: &server,
        sent: Vec::new(),
    };
    let draft = json!({
        "schemaVersion": "suite-accounting-invoice-draft-create.v1",
        "counterpartyReference": server.sample_counterparty(),
        "dueDate": "2026-03-31",
        "taxAmount": {"currency": "EUR", "minorUnits": "1900", "scale": 2},
        "lines": [{"description": "Workshop"}],
        "customerNote": null,
    });
    let (status, result) = invoices.draft(&draft).await?;
    assert_eq!(status, 201);
    let replayed = result["replayed"] == true;
    Ok(lane("Handwritten", &server, &invoices.sent, replayed))
}

struct Invoices<'a> {
    http: InMemoryService,
    token: String,
    keys: fastrand::Rng,
    /// Only for the picture, as is the list of sent requests.
    server: &'a ReferenceServer,
    sent: Vec<Sent>,
}

impl Invoices<'_> {
    /// Makes up to three attempts with growing delays between them.
    async fn draft(&mut self, draft: &Value) -> Reply {
        let mut wait = Duration::from_millis(100);
        for _ in 0..2 {
            match self.post(draft).await {
                Ok((status, result)) if status < 500 => return Ok((status, result)),
                _ => sleep(wait).await,
            }
            wait *= 2;
        }
        self.post(draft).await
    }

    /// Makes one attempt. The header is required, so each attempt gets a new key.
    async fn post(&mut self, draft: &Value) -> Reply {
        let request =
            http::Request::post(format!("{}/invoice-drafts", self.server.accounting_url()))
                .header(AUTHORIZATION, format!("Bearer {}", self.token))
                .header(CONTENT_TYPE, "application/json")
                .header("Idempotency-Key", format!("{:032x}", self.keys.u128(..)))
                .body(Full::from(draft.to_string()))?;
        let began = Instant::now();
        let reply = exchange(&mut self.http, request).await;
        self.sent.push(Sent {
            began,
            ended: Instant::now(),
            status: reply.as_ref().ok().map(|(status, _)| *status),
            commits: self.server.commits(Operation::CreateInvoiceDraft),
        });
        reply
    }
}

async fn token(server: &ReferenceServer) -> Result<String, Failure> {
    let credential = STANDARD.encode(format!("{}:{}", server.client_id(), server.client_secret()));
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "client_credentials")
        .append_pair("audience", &server.accounting_url())
        .finish();
    let request = http::Request::post(server.token_url())
        .header(AUTHORIZATION, format!("Basic {credential}"))
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Full::from(form))?;
    let (_, reply) = exchange(&mut server.service(), request).await?;
    let token = reply["access_token"].as_str();
    Ok(token.ok_or("no token")?.to_owned())
}

async fn exchange(http: &mut InMemoryService, request: http::Request<Full<Bytes>>) -> Reply {
    let reply = timeout(Duration::from_secs(10), http.call(request)).await??;
    let status = reply.status().as_u16();
    let body = reply.into_body().collect().await?.to_bytes();
    Ok((status, serde_json::from_slice(&body)?))
}
