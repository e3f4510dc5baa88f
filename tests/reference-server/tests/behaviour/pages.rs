//! What a port serves beside the contract: a page for people, and the contract itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use sdk_reference_server::{App, ReferenceServer, Transport};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::peer::{Peer, rows};

/// A peer of a server with a control port, and the URL of that.
async fn controlled() -> (Peer, String) {
    let builder = ReferenceServer::builder().transport(Transport::Hyper);
    let server = builder.control_port(0).start().await;
    let url = server.control_url().unwrap().to_owned();
    (Peer::of(server), url)
}

#[tokio::test]
async fn each_port_shows_its_operations_scopes_and_last_requests() {
    let (peer, url) = controlled().await;
    peer.server.fault("listPeople").times(1).status(503);
    let markup = peer.server.fault_everywhere();
    markup.when_path("<script>alert(1)</script>").status(500);
    peer.crm("/people?q=%3Cscript%3E").await.expect(503);
    for app in App::all() {
        let page = peer.get_with(app, "/", "none").await;
        let media_type = page.header("content-type");
        assert_eq!(media_type, Some("text/html; charset=utf-8"), "{app}");
        let control = format!("<a href=\"{url}/\">Control</a>");
        assert!(page.text.contains(&control), "{app}");
        assert!(!page.text.contains("<script") && !page.text.contains("<button"));
    }
    let page = peer.get_with(App::Crm, "/", "none").await.text;
    let control = peer.read(peer.http.get(&url)).await;
    for part in [
        "/api/crm/v1/people/{reference}",
        "getPersonTimeline",
        "crm:organizations:write",
        "no token",
        "/api/crm/v1/people?q=%3Cscript%3E",
        "&#60;script&#62;alert(1)",
        "{&#34;status&#34;:503}",
        "1, spent",
        "contract 3.0.0",
        &peer.server.crm_url(),
    ] {
        assert!(page.contains(part) && control.text.contains(part), "{part}");
    }
    assert!(
        !page.contains("calendar:event:write") && control.text.contains("calendar:event:write")
    );
    assert!(!control.text.contains(peer.server.client_secret()));

    // A browser runs the script of the page, and no other.
    let scripts: Vec<&str> = control.text.split("<script>").skip(1).collect();
    let [script] = scripts[..] else {
        panic!("{} scripts", scripts.len())
    };
    let digest = Sha256::digest(script.split("</script>").next().unwrap());
    let allowed = format!("script-src 'sha256-{}'", STANDARD.encode(digest));
    let policy = control.header("content-security-policy").unwrap();
    assert!(policy.contains(&allowed), "{policy}");
}

/// The origin and the host of a command at the control port, and its status; P stands for the port, and a for that of an
/// application.
const ORIGINS: &str = "
    http://127.0.0.1:P | 127.0.0.1:P | 201
    http://localhost:P | localhost:P | 201
    http://[::1]:P | [::1]:P | 201
    null | 127.0.0.1:P | 403
    http://evil.example | 127.0.0.1:P | 403
    http://evil.example:P | evil.example:P | 403
    http://127.0.0.1:A | 127.0.0.1:P | 403
    http://127.0.0.1 | 127.0.0.1:P | 403
    https://127.0.0.1:P | 127.0.0.1:P | 403
    http://localhost:P | 127.0.0.1:P | 403";

#[tokio::test]
async fn only_its_own_page_commands_the_control_port() {
    let (peer, url) = controlled().await;
    let port = |url: &str| url.rsplit(':').next().unwrap().to_owned();
    let (own, application) = (port(&url), port(&peer.server.crm_url()));
    let fault = json!({"faults": [{"then": {"status": 503}}]}).to_string();
    let command = |path: &str, origin: &str, host: &str| {
        let request = peer.http.post(format!("{url}{path}"));
        request.header("origin", origin).header("host", host)
    };
    for [origin, host, status] in rows(ORIGINS) {
        let origin = origin.replace('P', &own).replace('A', &application);
        let host = host.replace('P', &own);
        let add = command("/-/faults", &origin, &host);
        let add = add.header("content-type", "application/json");
        let got = peer.read(add.body(fault.clone())).await;
        assert_eq!(got.status.to_string(), status, "{origin} at {host}");
        let got = peer.read(command("/-/reset", &origin, &host)).await;
        let reset = if status == "201" { 200 } else { 403 };
        assert_eq!(got.status, reset, "{origin} at {host}");
    }
    // What a form of a page can send is no command, and neither is a link.
    let own = format!("http://127.0.0.1:{own}");
    let form = command("/-/faults", &own, &own[7..]).body(fault);
    peer.read(form).await.expect(400);
    let link = peer.http.get(format!("{url}/-/reset"));
    peer.read(link).await.expect(405);
}

#[tokio::test]
async fn looking_leaves_no_trace() {
    let peer = Peer::start().await;
    peer.server.fault_everywhere().status(503);
    peer.get_with(App::Crm, "/", "none").await.expect(200);
    peer.get_with(App::Crm, "/openapi.yaml", "none")
        .await
        .expect(200);
    assert!(peer.server.requests().is_empty() && peer.server.fault_log().is_empty());
}

#[tokio::test]
async fn the_contract_is_served_as_it_is_published() {
    let peer = Peer::start().await;
    for app in App::all() {
        let got = peer.get_with(app, "/openapi.yaml", "none").await;
        assert_eq!(got.header("content-type"), Some("application/yaml"));
        assert!(got.text.starts_with("openapi: 3.0.3\n"), "{app}");
        // In the repository, the copy is what the specs are.
        let published = format!("{}/../../specs/{app}.yaml", env!("CARGO_MANIFEST_DIR"));
        if let Ok(published) = std::fs::read_to_string(published) {
            let published = App::all().fold(published, |published, other| {
                let short = other.id().replace("platform", "core");
                let nowhere = format!("https://{short}.invalid");
                published.replace(&nowhere, &peer.server.url(other))
            });
            assert!(!got.text.contains(".invalid"), "{app}");
            assert!(got.text == published, "{app}: run `cargo xtask codegen`");
        }
    }
    let url = format!("{}/openapi.yaml", peer.server.crm_url());
    let browser = peer
        .read(peer.http.get(url).header("accept", "text/html,*/*"))
        .await;
    assert_eq!(
        browser.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    let got = peer.send(Method::POST, App::Crm, "/").await;
    assert_eq!(got.status, 404);
}
