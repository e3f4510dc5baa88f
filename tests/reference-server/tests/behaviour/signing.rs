//! Tokens that others can check.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use sdk_reference_server::{App, Assumption, Builder, ReferenceServer, Signing};

use crate::peer::{Got, Peer, part};

const PAGES: [&str; 2] = [
    "/.well-known/jwks.json",
    "/.well-known/oauth-authorization-server",
];

fn signing(signing: Signing, also: impl FnOnce(Builder) -> Builder) -> Peer {
    let builder = ReferenceServer::builder().frozen_clock().signing(signing);
    Peer::of(also(builder).in_memory())
}

async fn page(peer: &Peer, app: App, path: &str) -> Got {
    peer.read(peer.http.get(peer.server.url(app) + path)).await
}

#[tokio::test]
async fn anybody_can_check_a_token_by_the_published_key() {
    let peer = signing(Signing::Es256, |builder| builder);
    let metadata = page(&peer, App::Platform, PAGES[1]).await.expect(200);
    assert_eq!(metadata["token_endpoint"], peer.server.token_url());
    let token = peer.token(App::Crm).await;
    assert_eq!(part(&token, 1)["iss"], metadata["issuer"]);
    let keys = peer.http.get(metadata["jwks_uri"].as_str().unwrap());
    let keys = peer.read(keys).await.expect(200);
    let [key] = keys["keys"].as_array().unwrap().as_slice() else {
        panic!("{keys}");
    };
    let header = part(&token, 0);
    assert_eq!(
        (&header["alg"], &header["kid"]),
        (&"ES256".into(), &key["kid"])
    );
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let [x, y] = ["x", "y"].map(|name| decoded(key[name].as_str().unwrap()));
    let key = VerifyingKey::from_sec1_bytes(&[vec![4], x, y].concat()).unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let signature = Signature::from_slice(&decoded(signature)).unwrap();
    key.verify(signed.as_bytes(), &signature).unwrap();
    assert!(key.verify(&signed.as_bytes()[1..], &signature).is_err());

    let today = "/api/crm/v1/today";
    peer.get_with(App::Crm, today, &token).await.expect(200);
    let other = signing(Signing::Es256, |builder| builder)
        .token(App::Crm)
        .await;
    let own = signing(Signing::Hs256, |builder| builder)
        .token(App::Crm)
        .await;
    for forged in [
        other,
        own,
        token.replace("eyJhbGciOiJFUzI1NiI", "eyJhbGciOiJub25lIi"),
    ] {
        peer.get_with(App::Crm, today, &forged).await.expect(401);
    }
    peer.server.advance(Duration::from_secs(300));
    peer.get_with(App::Crm, today, &token).await.expect(401);
}

#[tokio::test]
async fn the_key_of_a_seed_signs_the_same() {
    let seeded = async |seed| {
        let peer = signing(Signing::Es256, |builder| builder.seed(seed).seeded_tokens());
        peer.token(App::Crm).await
    };
    let token = seeded(7).await;
    assert_eq!(seeded(7).await, token);
    assert_ne!(part(&seeded(8).await, 0)["kid"], part(&token, 0)["kid"]);
}

#[tokio::test]
async fn what_is_published_depends_on_the_signature_and_the_world() {
    let (plain, a02) = (
        |builder| builder,
        |builder: Builder| builder.contradict(Assumption::A02),
    );
    for (peer, statuses) in [
        (signing(Signing::Hs256, plain), [404, 404]),
        (signing(Signing::Es256, plain), [200, 200]),
        (signing(Signing::Hs256, a02), [404, 200]),
        (signing(Signing::Es256, a02), [200, 200]),
    ] {
        for (path, status) in PAGES.into_iter().zip(statuses) {
            page(&peer, App::Platform, path).await.expect(status);
            page(&peer, App::Crm, path).await.expect(404);
        }
    }
}
