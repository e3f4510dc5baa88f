//! Authentication and authorization: 401 for an invalid token, 403 for missing rights.

use http::header;
use jiff::Timestamp;

use crate::app::App;
use crate::message::Request;
use crate::refusal::Refusal;
use crate::schema::Served;
use crate::suite::Suite;
use crate::token::exchange;
use crate::token::jwt::{self, Claims};

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) claims: Claims,
    /// The index of the actor that the client acts for.
    pub(crate) actor: u64,
}

impl Caller {
    pub(crate) fn has_scope(&self, scope: &str) -> bool {
        self.claims.scope.split(' ').any(|held| held == scope)
    }

    pub(crate) fn is_entitled(&self, app: App) -> bool {
        self.claims.entitlements.iter().any(|held| held == app.id())
    }
}

pub(crate) fn authorize(
    suite: &Suite,
    operation: &Served,
    request: &Request,
    now: Timestamp,
) -> Result<Caller, Refusal> {
    let app = operation.app;
    let caller = authenticate(suite, app, request, now)?;
    // The contract names entitlement and workspace only for the three business applications.
    if app != App::Platform {
        if !caller.is_entitled(app) {
            let message = format!("the client is not entitled to {app}");
            return Err(Refusal::forbidden("entitlement_required", message));
        }
        if caller.claims.workspace.is_none() {
            let message = "the client is not bound to a workspace";
            return Err(Refusal::forbidden("workspace_binding_required", message));
        }
    }
    if !operation.admits(&caller) {
        let scopes = &operation.security;
        let named: Vec<String> = scopes.iter().map(|all| all.join(" with ")).collect();
        let message = format!("the token lacks {}", named.join(" or "));
        return Err(Refusal::out_of_scope(message, &scopes.concat().join(" ")));
    }
    Ok(caller)
}

pub(crate) fn authenticate(
    suite: &Suite,
    app: App,
    request: &Request,
    now: Timestamp,
) -> Result<Caller, Refusal> {
    let Some(token) = bearer(request) else {
        let mut given = request.headers.get_all(header::AUTHORIZATION).iter();
        let bearer = |value: &[u8]| value.len() > 6 && value[..6].eq_ignore_ascii_case(b"bearer");
        let sent = given.any(|value| bearer(value.as_bytes()));
        return Err(Refusal::unauthenticated("a bearer token is required", sent));
    };
    let refused = |why: &str| Refusal::unauthenticated(why, true);
    let claims =
        jwt::verify(&suite.token_key, token).ok_or_else(|| refused("the token is not valid"))?;
    let number = claims
        .number()
        .ok_or_else(|| refused("the token is not valid"))?;
    if now.as_millisecond() >= claims.exp_ms {
        return Err(refused("the token has expired"));
    }
    if claims.aud != suite.audience(app) {
        return Err(refused("the token is for another audience"));
    }
    if !suite.registry().honors(&claims.client_id, number) {
        return Err(refused("the token was revoked"));
    }
    let actor = suite.store().actors.index(&claims.actor);
    let actor = actor.ok_or_else(|| refused("the token names no actor"))?;
    Ok(Caller { claims, actor })
}

/// Returns the ID of the client that a request names, by a valid token or by credentials, which may be wrong.
pub(crate) fn named_client(suite: &Suite, request: &Request) -> Option<String> {
    let token = bearer(request).and_then(|token| jwt::verify(&suite.token_key, token));
    let named = token.map(|claims| claims.client_id);
    named.or_else(|| exchange::named_client(request))
}

pub(crate) fn bearer(request: &Request) -> Option<&str> {
    let (scheme, token) = request
        .header(header::AUTHORIZATION.as_str())?
        .split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
