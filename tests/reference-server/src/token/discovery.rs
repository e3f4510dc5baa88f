//! The Platform's metadata about its tokens: RFC 8414 and RFC 7517.

use http::Method;
use serde_json::json;

use crate::app::App;
use crate::contradict::Assumption::{A02, A04};
use crate::message::{Reply, Request};
use crate::suite::Suite;

const METADATA: &str = "/.well-known/oauth-authorization-server";
const KEYS: &str = "/.well-known/jwks.json";

/// The key set needs a public key. The metadata also exist if the token endpoint has moved (A02).
pub(crate) fn page(suite: &Suite, app: App, request: &Request) -> Option<Reply> {
    let reads = request.method == Method::GET || request.method == Method::HEAD;
    if app != App::Platform || !reads {
        return None;
    }
    let keys = suite.token_key.public.as_ref();
    if request.path == KEYS {
        return Some(Reply::ok(keys?));
    }
    if request.path != METADATA || (keys.is_none() && !suite.contradicts(A02)) {
        return None;
    }
    let issuer = suite.url(app);
    let form = ["client_secret_post", "client_secret_basic"];
    let mut metadata = json!({
        "issuer": issuer,
        "token_endpoint": suite.token_url(),
        "token_endpoint_auth_methods_supported": form[..suite.unless(A04, 2, 1)],
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": [],
    });
    if keys.is_some() {
        metadata["jwks_uri"] = format!("{issuer}{KEYS}").into();
    }
    Some(Reply::ok(&metadata))
}
