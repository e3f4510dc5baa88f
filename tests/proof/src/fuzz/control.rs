//! Requests to the reference server, which answers every input, with JSON where expected, and fails only as scripted.

use std::error::Error;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use sdk_reference_server::{App, ReferenceServer};
use serde::de::IgnoredAny;
use tokio::time::{Duration, timeout};
use tower_service::Service as _;
use url::form_urlencoded;

use super::line;
use super::stage::in_time;

/// Lines `--` separate requests. The first line of a request is a method and a path, and the rest is the body.
pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    in_time(async {
        let small = ReferenceServer::builder().people(3).organizations(2);
        let small = small.opportunities(2).tasks(2).intake_submissions(2);
        let small = small.recorded_requests(8).control_port(4_010);
        let server = small.in_memory();
        let (id, secret) = (server.client_id(), server.client_secret());
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "client_credentials")
            .extend_pairs([("client_id", id), ("client_secret", secret)])
            .append_pair("audience", &server.audience(App::Crm))
            .finish();
        let token = send(&server, "POST /oauth/token", form.as_bytes(), "").await;
        let token: serde_json::Value =
            serde_json::from_slice(&token.expect("a valid request").expect("an answer").1)
                .expect("JSON");
        let token = token["access_token"].as_str().expect("a token");
        let mut is_scripted = false;
        for request in text.split("\n--\n").take(4) {
            let (head, body) = line(request.as_bytes());
            let head = String::from_utf8_lossy(head);
            is_scripted |= head.contains(" /-/faults");
            let Some(answer) = send(&server, &head, body, token).await else {
                continue;
            };
            assert!(!format!("{answer:?}").contains("Panic"), "{answer:?}");
            // Scripted faults may fail the request.
            let Ok((status, body)) = answer else {
                assert!(is_scripted, "{head}: no answer");
                continue;
            };
            if is_scripted {
                continue;
            }
            let failures = [StatusCode::INTERNAL_SERVER_ERROR, StatusCode::BAD_GATEWAY];
            assert!(!failures.contains(&status), "{head}: {status}");
            assert!(
                body.is_empty() || body.starts_with(b"<") || is_json(&body),
                "{head}"
            );
        }
    });
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(body).is_ok()
}

/// Sends a request. Returns `None` if the input is not a valid request.
async fn send(
    server: &ReferenceServer,
    head: &str,
    body: &[u8],
    token: &str,
) -> Option<Result<(StatusCode, Bytes), Box<dyn Error + Send + Sync>>> {
    let (method, path) = head.split_once(" /")?;
    let app = match path.split('/').next()? {
        "calendar" => App::Calendar,
        "platform" | "oauth" => App::Platform,
        "api" => App::Crm,
        _ => App::Accounting,
    };
    let control = server
        .control_url()
        .filter(|_| path.starts_with("-/") || path.is_empty());
    let origin = control.map_or_else(|| server.url(app), str::to_owned);
    let is_form = path.starts_with("oauth");
    let media = ["application/json", "application/x-www-form-urlencoded"][usize::from(is_form)];
    let mut request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).ok()?)
        .uri(format!("{origin}/{path}"))
        .header(CONTENT_TYPE, media)
        .header("idempotency-key", "0123456789abcdef");
    if !is_form {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(Full::new(Bytes::copy_from_slice(body))).ok()?;
    let answer = async {
        let answer = server.service().call(request).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?;
        Ok::<_, Box<dyn Error + Send + Sync>>((status, body.to_bytes()))
    };
    let answer = timeout(Duration::from_secs(1 << 40), answer).await;
    Some(answer.unwrap_or_else(|elapsed| Err(elapsed.into())))
}
