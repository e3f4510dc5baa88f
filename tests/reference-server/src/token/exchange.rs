//! `POST /oauth/token`: the client credentials grant of RFC 6749 section 4.4.

use std::time::Duration;

use http::header;
use serde_json::{Map, Value, json};

use super::basic;
use super::jwt::{self, Claims};
use super::registry::{Registered, Registry};
use crate::app::App;
use crate::call::{Answer, Call};
use crate::contradict::Assumption::{A03, A04, A41, A70, A71};
use crate::message::{Reply, Request};
use crate::params::Query;
use crate::refusal::Refusal;
use crate::schema::Broken;
use crate::suite::Suite;

/// The changes that faults make to an issued token.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) lifetime: Option<Duration>,
    /// The value of `expires_in` instead of the real lifetime. Null omits the field.
    pub(crate) expires_in: Option<Value>,
}

/// Responds to a token request with a token, or with an error of RFC 6749, section 5.2.
pub(crate) fn token(call: &Call<'_>) -> Answer {
    Ok(grant(call).unwrap_or_else(|refusal| error(&refusal)))
}

/// Returns the error body of RFC 6749, section 5.2.
fn error(refusal: &Refusal) -> Reply {
    let body = json!({"error": refusal.code, "error_description": refusal.message});
    let mut reply = Reply::json(refusal.status, &body).with(header::CACHE_CONTROL, "no-store");
    if refusal.status == 401 {
        reply.set(header::WWW_AUTHENTICATE, "Basic realm=\"suite\"");
    }
    reply
}

fn invalid_client(description: &str) -> Refusal {
    Refusal::new(401, "invalid_client", description)
}

/// Returns the error for a form that breaks its schema. An unsupported grant type has its own code.
pub(crate) fn rejected(broken: &Broken) -> Reply {
    let unsupported =
        |(place, rule): &(String, String)| place == "grant_type" && rule.starts_with("must be");
    let code = match broken.0.as_slice() {
        [only] if unsupported(only) => "unsupported_grant_type",
        _ => "invalid_request",
    };
    error(&Refusal::new(400, code, broken.to_string()))
}

fn grant(call: &Call<'_>) -> Answer {
    let (suite, request) = (call.suite, call.request);
    let form = call.body();
    let form = |name: &str| form[name].as_str();
    let (id, secret) = credentials(suite, request, form)?;
    let mut registry = suite.registry();
    let client = registry
        .authenticate(&id, &secret)
        .cloned()
        .ok_or_else(|| invalid_client("unknown client or wrong secret"))?;
    let audience = suite.unless(A03, "audience", "resource");
    let code = suite.unless(A71, "invalid_target", "invalid_request");
    let wrong_target = |description: &str| Refusal::new(400, code, description);
    let app = match (form(audience), suite.contradicts(A03)) {
        (None, false) => App::Platform,
        (None, true) => return Err(wrong_target("resource is missing")),
        (Some(audience), _) => suite
            .app_of_audience(audience)
            .ok_or_else(|| wrong_target("unknown audience"))?,
    };
    let scopes = granted(suite, &client, app, form("scope"))?;
    let token = issue(call, &mut registry, &client, app, &scopes);
    suite.counters.exchanged();
    Ok(token)
}

/// Returns the credentials from the header or from the form. Both together are an error.
fn credentials<'f>(
    suite: &Suite,
    request: &Request,
    form: impl Fn(&str) -> Option<&'f str>,
) -> Result<(String, String), Refusal> {
    let in_form = (form("client_id"), form("client_secret"));
    if request.headers.contains_key(header::AUTHORIZATION) {
        if in_form != (None, None) {
            let description = "credentials must be in the header or in the form, not in both";
            return Err(Refusal::new(400, "invalid_request", description));
        }
        if suite.contradicts(A04) {
            return Err(invalid_client("credentials must be in the form"));
        }
        return request
            .header(header::AUTHORIZATION.as_str())
            .and_then(basic::credentials)
            .ok_or_else(|| invalid_client("unreadable Authorization header"));
    }
    match in_form {
        (Some(id), Some(secret)) => Ok((id.to_owned(), secret.to_owned())),
        _ => Err(invalid_client("credentials are missing")),
    }
}

/// Returns the client ID of the credentials, which may be wrong.
pub(crate) fn named_client(request: &Request) -> Option<String> {
    let basic = request.header(header::AUTHORIZATION.as_str());
    let basic = basic.and_then(basic::credentials).map(|(id, _)| id);
    basic.or_else(|| {
        let form = std::str::from_utf8(&request.body).ok()?;
        Query::parse(Some(form)).texts("client_id").ok()?.pop()
    })
}

/// Returns the requested scopes, or all scopes that the client has for this application.
fn granted(
    suite: &Suite,
    client: &Registered,
    app: App,
    asked: Option<&str>,
) -> Result<Vec<String>, Refusal> {
    let held = || {
        client
            .scopes
            .iter()
            .filter(|scope| suite.owns_scope(app, scope))
    };
    let Some(asked) = asked else {
        return Ok(held().cloned().collect());
    };
    let mut scopes: Vec<String> = Vec::new();
    for scope in asked.split(' ') {
        if !held().any(|known| known == scope) {
            let description = "a scope is unknown, or the client lacks it for this audience";
            return Err(Refusal::new(400, "invalid_scope", description));
        }
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    Ok(scopes)
}

fn issue(
    call: &Call<'_>,
    registry: &mut Registry,
    client: &Registered,
    app: App,
    scopes: &[String],
) -> Reply {
    let (suite, now) = (call.suite, call.now);
    let lifetime = call.terms.lifetime.unwrap_or(registry.lifetime);
    let life_millis = i64::try_from(lifetime.as_millis()).unwrap_or_default();
    // `iat` and `exp` are whole seconds. The server still honors the rest of the lifetime.
    let iat = now.as_second();
    let exp = iat + suite.unless(A41, life_millis / 1_000, 3_600);
    let scope = scopes.join(" ");
    let claims = Claims {
        iss: suite.url(App::Platform).to_owned(),
        sub: client.spec.id.clone(),
        aud: suite.audience(app).to_owned(),
        scope: scope.clone(),
        iat,
        exp,
        exp_ms: now.as_millisecond() + life_millis,
        jti: format!("tok-{}", registry.number()),
        client_id: client.spec.id.clone(),
        actor: suite.store().actors.reference(client.actor),
        entitlements: client.spec.entitlements(),
        workspace: client.spec.has_workspace().then(|| suite.workspace()),
    };
    let mut body = Map::new();
    let token = jwt::issue(&suite.token_key, &claims, suite.contradicts(A70));
    body.insert("access_token".into(), token.into());
    body.insert("token_type".into(), "Bearer".into());
    let lie = call.terms.expires_in.clone();
    let expires_in = lie.unwrap_or_else(|| json!(exp - iat));
    if !expires_in.is_null() {
        body.insert("expires_in".into(), expires_in);
    }
    if !scope.is_empty() {
        body.insert("scope".into(), scope.into());
    }
    Reply::ok(&Value::Object(body))
        .with(header::CACHE_CONTROL, "no-store")
        .with(header::PRAGMA, "no-cache")
}
