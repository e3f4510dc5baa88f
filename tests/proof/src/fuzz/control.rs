//! Requests to the reference server: whatever comes, it answers, in JSON where it says so, and fails only where it was told to.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use sdk_reference_server::{App, ReferenceServer};
use serde::de::IgnoredAny;
use tokio::time::{Duration, timeout};
use tower_service::Service as _;

use super::line;
use super::stage::in_time;

/// Requests apart by a line `--`: a method and a path in the first line, then the body.
pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    in_time(async {
        let small = ReferenceServer::builder()
            .people(3)
            .organizations(2)
            .opportunities(2)
            .tasks(2);
        let server = small.intake_submissions(2).recorded_requests(8).in_memory();
        let token = token(&server).await;
        let mut is_scripted = false;
        for request in text.split("\n--\n").take(4) {
            let (head, body) = line(request.as_bytes());
            let head = String::from_utf8_lossy(head);
            let (method, path) = head.split_once(' ').unwrap_or(("GET", &head));
            if !path.starts_with('/') {
                continue;
            }
            is_scripted |= path.starts_with("/-/faults");
            send(&server, (method, path), body, &token, is_scripted).await;
        }
    });
}

async fn send(
    server: &ReferenceServer,
    (method, path): (&str, &str),
    body: &[u8],
    token: &str,
    is_scripted: bool,
) {
    let app = match path.split('/').nth(1) {
        Some("calendar") => App::Calendar,
        Some("platform" | "oauth") => App::Platform,
        Some("api") => App::Crm,
        _ => App::Accounting,
    };
    let control = server
        .control_url()
        .filter(|_| path.starts_with("/-/") || path == "/");
    let origin = control.map_or_else(|| server.url(app), str::to_owned);
    let (Ok(method), Ok(uri)) = (
        Method::from_bytes(method.as_bytes()),
        format!("{origin}{path}").parse::<Uri>(),
    ) else {
        return;
    };
    let form = path.starts_with("/oauth");
    let media = if form {
        "application/x-www-form-urlencoded"
    } else {
        "application/json"
    };
    let mut request = Request::builder()
        .method(method)
        .uri(uri)
        .header(CONTENT_TYPE, media);
    request = request.header("idempotency-key", "0123456789abcdef");
    if !form {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let Ok(request) = request.body(Full::new(Bytes::copy_from_slice(body))) else {
        return;
    };
    let is_head = request.method() == Method::HEAD;
    let Ok(answered) = timeout(Duration::from_secs(1 << 40), server.service().call(request)).await
    else {
        return assert!(is_scripted, "no answer");
    };
    let answer = match answered {
        Ok(answer) => answer,
        Err(error) => {
            return assert!(
                is_scripted || error.to_string().contains("no application"),
                "{error}"
            );
        }
    };
    let (head, body) = answer.into_parts();
    assert!(
        is_scripted || !matches!(head.status.as_u16(), 500 | 502),
        "{}",
        head.status
    );
    let collected = timeout(Duration::from_secs(1 << 40), body.collect()).await;
    let json = head
        .headers
        .get(CONTENT_TYPE)
        .is_some_and(|it| it.as_bytes().starts_with(b"application/json"));
    match collected {
        Ok(Ok(body)) if json && !is_head && !is_scripted => {
            serde_json::from_slice::<IgnoredAny>(&body.to_bytes())
                .expect("it says that it is JSON");
        }
        Ok(Ok(_)) => {}
        _ => assert!(is_scripted, "the body broke off"),
    }
}

async fn token(server: &ReferenceServer) -> String {
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}&audience={}",
        server.client_id(),
        server.client_secret(),
        server.audience(App::Crm)
    );
    let request =
        Request::post(server.token_url()).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request = request
        .body(Full::new(Bytes::from(form)))
        .expect("a request");
    let body = server
        .service()
        .call(request)
        .await
        .expect("an answer")
        .into_body();
    let body = body.collect().await.expect("a body").to_bytes();
    let body: serde_json::Value = serde_json::from_slice(&body).expect("a token");
    body["access_token"].as_str().expect("a token").to_owned()
}
