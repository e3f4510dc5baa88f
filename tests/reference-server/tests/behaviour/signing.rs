//! Tokens that services can check.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use sdk_reference_server::{App, Builder, ReferenceServer, Signing};

use crate::peer::{Peer, part};

fn es256() -> Builder {
    ReferenceServer::builder().signing(Signing::Es256)
}

#[tokio::test]
async fn a_token_can_be_checked_with_the_published_key() {
    let peer = Peer::of(es256().in_memory());
    let metadata = peer.server.core_url() + "/.well-known/oauth-authorization-server";
    let metadata = peer.read(peer.http.get(metadata)).await.expect(200);
    assert_eq!(metadata["token_endpoint"], peer.server.token_url());
    let token = peer.token(App::Crm).await;
    assert_eq!(part(&token, 1)["iss"], metadata["issuer"]);
    let keys = peer.http.get(metadata["jwks_uri"].as_str().unwrap());
    let key = peer.read(keys).await.expect(200)["keys"][0].clone();
    assert_eq!(part(&token, 0)["kid"], key["kid"]);
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let [x, y] = ["x", "y"].map(|name| decoded(key[name].as_str().unwrap()));
    let key = VerifyingKey::from_sec1_bytes(&[vec![4], x, y].concat()).unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let signature = Signature::from_slice(&decoded(signature)).unwrap();
    key.verify(signed.as_bytes(), &signature).unwrap();

    let other = Peer::of(es256().in_memory()).token(App::Crm).await;
    let secret = Peer::of(ReferenceServer::in_memory());
    for page in ["jwks.json", "oauth-authorization-server"] {
        let url = format!("{}/.well-known/{page}", secret.server.core_url());
        secret.read(secret.http.get(url)).await.expect(404);
    }
    let hmac = secret.token(App::Crm).await;
    for (token, status) in [(token, 200), (other, 401), (hmac, 401)] {
        let got = peer.get_with(App::Crm, "/api/crm/v1/today", &token).await;
        got.expect(status);
    }
}

#[tokio::test]
async fn a_seeded_key_gives_the_same_signatures() {
    let seeded = |seed| es256().frozen_clock().seed(seed).seeded_tokens();
    let token = async |seed| Peer::of(seeded(seed).in_memory()).token(App::Crm).await;
    assert_eq!(token(7).await, token(7).await);
    assert_ne!(token(8).await, token(7).await);
}
