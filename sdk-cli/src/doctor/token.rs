//! Requests tokens, and examines the responses. After a rejection, tries the other forms of the request that the SDK
//! supports.

use sdk_core::App;
use sdk_platform::operations::EXCHANGE_TOKEN;

use super::AppOrigin;
use super::exchange::{Exchange, FIELD, GRANT, METHOD, POST, REQUEST, URL};
use super::facts::{Seen, Token, contradicted};
use super::findings::for_app;
use super::reader::Reader;
use crate::catalog::operations;

/// A grant type and an audience that are unknown to every server.
const UNKNOWN: &str = "urn:suite-doctor:none";

/// A setting to try: the assumption that it contradicts, the variable, and the value.
type Setting = (&'static str, &'static str, String);

/// Requests a token for an application, and searches for the required settings. Returns false if other applications
/// would get the same rejection.
pub(crate) async fn first(
    reader: &mut Reader,
    exchange: &mut Exchange,
    app_origin: &AppOrigin,
) -> bool {
    let (app, origin) = (app_origin.0, &app_origin.1);
    let at = format!("{app}: {}", exchange.url.origin().ascii_serialization());
    let audience = exchange.audience(app, origin);
    let mut first = match exchange.post(REQUEST, GRANT, &audience, "").await {
        Ok(seen) => seen,
        Err(error) => {
            let remedy = "check scheme, host, port in SUITE_CORE_URL (or SUITE_TOKEN_URL), and HTTPS_PROXY and NO_PROXY; for \
                          an unknown certificate, check the system's roots or SSL_CERT_FILE";
            let found = format!("{at} cannot be reached: {error}");
            reader.report.failure(found, remedy);
            return false;
        }
    };
    first.operation = Some(&EXCHANGE_TOKEN);
    reader.facts.responses.push(first.clone());
    let (changes, response) = search(reader, exchange, app_origin, &first).await;
    let report = &mut reader.report;
    let Some(field) = response.token_field() else {
        let found = format!("{at} rejects: {}", first.rejection());
        let (is_hopeless, remedy) = remedy(&first);
        report.failure(found, for_app(remedy, app));
        return !is_hopeless;
    };
    let mut settings = Vec::new();
    for ((id, variable, value), rejection) in changes {
        let found = format!("{app}: {rejection} until {variable} is set");
        let setting = format!("{variable}={value}");
        let evidence = contradicted(found, format!("set {setting}"));
        reader.facts.evidence.push((id, evidence));
        report.set(variable, &value);
        settings.push(setting);
    }
    if settings.is_empty() {
        report.ok(format!("{app}: got a token"));
    } else {
        let rejection = first.rejection();
        let found = format!("{app}: no token with the current settings ({rejection})");
        report.failure(found, format!("set {}", settings.join(" and ")));
    }
    let issued = response.part(1).and_then(|claims| claims["iat"].as_i64());
    let now = jiff::Timestamp::now().as_second();
    if issued.is_some_and(|issued| now.abs_diff(issued) > 60) {
        report.note("the `iat` of tokens differs from this machine's clock by more than 60 s; a strict verifier rejects them");
    }
    exchange.token_field = field;
    reader.facts.tokens.push(Token {
        app,
        audience: exchange.audience(app, origin),
        is_by_origin: !exchange.is_set(app.audience_variable()),
        is_by_platform: !exchange.is_set(URL),
        response,
    });
    true
}

/// Changes the settings until the token endpoint returns a token. Returns the changes, each with the rejection that it
/// resolves, and the last response. Without a token, the settings of `exchange` stay unchanged.
async fn search(
    reader: &mut Reader,
    exchange: &mut Exchange,
    app_origin: &AppOrigin,
    first: &Seen,
) -> (Vec<(Setting, String)>, Seen) {
    let (app, origin) = (app_origin.0, &app_origin.1);
    let (mut tried, mut last) = (exchange.clone(), first.clone());
    let mut changes = Vec::new();
    // Several settings may be wrong, so a change that leads to a different rejection stays as a step.
    'steps: while last.token().is_none() && changes.len() < 4 {
        for attempt in attempts(reader, &tried, app_origin, &last).await {
            let mut other = tried.clone();
            for (_, variable, value) in &attempt {
                other.set(variable, value);
            }
            let audience = other.audience(app, origin);
            let Ok(next) = other.post(REQUEST, GRANT, &audience, "").await else {
                continue;
            };
            let is_token = next.token().is_some() && next.is_for(&audience) != Some(false);
            let is_other = next.rejection() != last.rejection() && next.status != 404;
            if is_token || (is_other && next.is_rejection()) {
                let rejection = last.rejection();
                changes.extend(attempt.into_iter().map(|it| (it, rejection.clone())));
                (tried, last) = (other, next);
                continue 'steps;
            }
        }
        break;
    }
    if last.token().is_some() {
        *exchange = tried;
    }
    (changes, last)
}

/// Returns whether all applications will get the same rejection, and its remedy.
fn remedy(rejection: &Seen) -> (bool, &'static str) {
    match (rejection.status, rejection.code().unwrap_or_default()) {
        (401, _) | (_, "invalid_client") => (true, CREDENTIAL),
        (_, "unauthorized_client" | "invalid_grant") => (true, GRANTED),
        (_, "invalid_scope") => (false, SCOPES),
        (404 | 405 | 410, _) => (true, ADDRESS),
        (..=399, _) => (true, PORTAL),
        (408 | 423 | 425 | 429 | 500.., _) => (true, LATER),
        _ => (false, AUDIENCE),
    }
}

const CREDENTIAL: &str =
    "check SUITE_CLIENT_ID and SUITE_CLIENT_SECRET (tried in the header and in the form)";
const GRANTED: &str = "ask for the client's permission to exchange its credential";
const SCOPES: &str = "with `scopes(..)`, request only scopes that the client has for $APP";
const ADDRESS: &str =
    "set SUITE_CORE_URL to the Platform, or SUITE_TOKEN_URL to the identity provider's endpoint";
const PORTAL: &str =
    "set SUITE_CORE_URL or SUITE_TOKEN_URL, which may lead to another service, such as a portal";
const LATER: &str = "ask the operator of the identity provider, then run the doctor again";
const AUDIENCE: &str = "set $AUDIENCE to the exact audience of $APP, and check $URL";

/// Returns combinations of settings that may resolve a rejection.
async fn attempts(
    reader: &mut Reader,
    exchange: &Exchange,
    (app, origin): &AppOrigin,
    rejection: &Seen,
) -> Vec<Vec<Setting>> {
    match (rejection.status, rejection.code().unwrap_or_default()) {
        (404 | 405 | 410, _) if !exchange.is_set(URL) => {
            let Some(url) = exchange.announced().await else {
                return Vec::new();
            };
            if url.origin() == exchange.url.origin() {
                return vec![vec![("A02", URL, url.into())]];
            }
            // The doctor never sends the credential to another origin on its own. The user must decide that.
            let host = url.origin().ascii_serialization();
            let found = format!("the Platform's metadata names a token endpoint at {host}");
            let remedy = "if this origin may receive the credential, set SUITE_TOKEN_URL to it";
            reader.report.problem(found, remedy);
            Vec::new()
        }
        (401, _) | (_, "invalid_client") if !exchange.is_set(METHOD) => {
            vec![vec![("A04", METHOD, POST.to_owned())]]
        }
        (400, "invalid_request" | "invalid_target" | "") => audiences(exchange, *app, origin),
        _ => Vec::new(),
    }
}

/// Returns all combinations of other audiences and another form field for the audience.
fn audiences(exchange: &Exchange, app: App, origin: &str) -> Vec<Vec<Setting>> {
    let variable = app.audience_variable();
    let mut audiences = vec![None];
    if !exchange.is_set(variable) {
        // The server may compare the audience exactly, with a trailing slash or with the path.
        let url = exchange.get(app.url_variable()).to_owned();
        let others = [format!("{origin}/"), url, app.name().to_owned()];
        audiences.extend(others.into_iter().filter(|it| it != origin).map(Some));
    }
    let fields = [None, Some("resource")];
    let fields = &fields[..if exchange.is_set(FIELD) { 1 } else { 2 }];
    let mut attempts = Vec::new();
    for audience in &audiences {
        for field in fields {
            let audience = audience.clone().map(|it| ("A43", variable, it));
            let field = field.map(|it| ("A03", FIELD, it.to_owned()));
            attempts.push(audience.into_iter().chain(field).collect());
        }
    }
    // The first combination is empty.
    attempts.remove(0);
    attempts
}

/// Sends unusual requests, whose responses show the checks of the token endpoint.
pub(crate) async fn probe(reader: &mut Reader, exchange: &Exchange, app: App, audience: &str) {
    let mut scopes = operations(app).iter().flat_map(|it| it.scopes);
    let scope = scopes.next().copied().unwrap_or_default();
    let requests = [
        ("an unknown grant type", UNKNOWN, audience, ""),
        ("an unknown audience", GRANT, UNKNOWN, ""),
        ("no credential", GRANT, audience, ""),
        ("one scope", GRANT, audience, scope),
    ];
    let nobody = exchange.without_credential();
    reader.facts.scope = scope;
    for (name, grant, audience, scope) in requests {
        let is_anonymous = name == "no credential";
        let exchange = if is_anonymous { &nobody } else { exchange };
        let Ok(seen) = exchange.post(name, grant, audience, scope).await else {
            continue;
        };
        if is_anonymous && seen.token().is_some() {
            let found = "the token endpoint issues tokens without a credential";
            let remedy = "ask the operator: every client that reaches it gets a token";
            reader.report.problem(found, remedy);
        }
        reader.facts.responses.push(seen);
    }
}
