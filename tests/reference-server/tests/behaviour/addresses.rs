//! Public URLs that differ from the addresses that the applications listen on.

use sdk_reference_server::{App, Builder, ReferenceServer, Transport};

use crate::peer::{Peer, part};

/// Gives every application a path below one origin.
fn below(origin: &str, builder: Builder) -> Builder {
    let url = |app: App| format!("{origin}/{app}/");
    App::all().fold(builder, |builder, app| builder.public_url(app, url(app)))
}

#[tokio::test]
async fn tokens_pages_and_variables_use_the_public_url() {
    let builder = ReferenceServer::builder();
    let peer = Peer::of(below("https://Suite.test:443", builder).in_memory());
    let crm = "https://suite.test/crm";
    assert_eq!(peer.server.url(App::Crm), crm);
    // The applications share an origin, so only the URL distinguishes their audiences.
    let variable = ("SUITE_CRM_AUDIENCE".to_owned(), crm.to_owned());
    assert!(peer.server.environment().contains(&variable));

    let token = peer.token(App::Crm).await;
    assert_eq!(part(&token, 1)["aud"], crm);
    assert_eq!(part(&token, 1)["iss"], "https://suite.test/platform");
    peer.crm("/people").await.expect(200);
    let apps = peer
        .get(App::Platform, "/platform/v1/apps")
        .await
        .expect(200);
    assert_eq!(apps["items"][0]["origin"], crm);
    for page in ["/", "/openapi.yaml"] {
        let page = peer.get(App::Crm, page).await;
        assert!(page.text.contains(crm), "{}", page.text);
    }
}

#[tokio::test]
async fn a_proxy_may_forward_or_strip_the_path_prefix() {
    for transport in [Transport::Wiremock, Transport::Hyper] {
        let builder = ReferenceServer::builder().transport(transport);
        let server = below("http://suite.test", builder).start().await;
        let at = App::Crm;
        let local = format!("http://{}", server.address(at).unwrap());
        let peer = Peer::of(server);
        for (host, path, status) in [
            ("suite.test", "/crm/api/health", 200),
            ("suite.test:14011", "/api/health", 200),
            ("localhost", "/crm", 200),
            ("suite.test", "/crmx/api/health", 404),
            ("suite.test", "/crm/crm/api/health", 404),
            ("evil.test", "/crm/api/health", 403),
        ] {
            let request = peer.http.get(format!("{local}{path}")).header("host", host);
            peer.read(request).await.expect(status);
        }
        assert_eq!(peer.server.attempts("getHealth"), 2);
    }
}
