//! The pages that a port serves besides the operations: an HTML page, and the contract.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use sdk_reference_server::{App, ReferenceServer};
use sha2::{Digest, Sha256};

use crate::peer::Peer;

#[tokio::test]
async fn each_port_shows_its_operations_scopes_and_last_requests() {
    let builder = ReferenceServer::builder().control_port(0);
    let peer = Peer::of(builder.in_memory());
    let url = peer.server.control_url().unwrap();
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
    let control = peer.read(peer.http.get(url)).await;
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

    // A browser runs only this server's script on the page.
    let scripts: Vec<&str> = control.text.split("<script>").skip(1).collect();
    let [script] = scripts[..] else {
        panic!("{} scripts", scripts.len())
    };
    let digest = Sha256::digest(script.split("</script>").next().unwrap());
    let allowed = format!("script-src 'sha256-{}'", STANDARD.encode(digest));
    let policy = control.header("content-security-policy").unwrap();
    assert!(policy.contains(&allowed), "{policy}");
}

#[tokio::test]
async fn page_requests_are_not_recorded() {
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
        // In the repository, the copy must equal the specs.
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
