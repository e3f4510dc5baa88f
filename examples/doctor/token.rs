//! What the token endpoint gives and refuses. What is refused is tried in the other forms that the SDK can be set to.

use sdk_core::App;
use serde_json::Value;

use super::contact::Contact;
use super::exchange::{Answer, Exchange, FIELD, GRANT, METHOD, POST, URL, part};
use super::shape::{kind, named};

const CLAIMS: [&str; 11] = [
    "iss",
    "sub",
    "aud",
    "scope",
    "iat",
    "exp",
    "exp_ms",
    "jti",
    "client_id",
    "actor",
    "entitlements",
];

/// A change of settings: the entry that does not hold if it helps, the variable, its value.
type Change = (&'static str, &'static str, String);

/// How it went for one application.
#[derive(PartialEq, Eq)]
pub(crate) enum Outcome {
    Token,
    /// Another application may fare better.
    Refused,
    /// No other will.
    Hopeless,
}

/// A token for `app`; on the way, what has to be set for it.
pub(crate) async fn first(
    contact: &mut Contact,
    exchange: &mut Exchange,
    app: App,
    origin: &str,
) -> Outcome {
    let place = format!("{app}: {}", exchange.url.origin().ascii_serialization());
    let mut tried = exchange.clone();
    let mut answer = match tried.post(GRANT, &tried.audience(app, origin), "").await {
        Ok(answer) => answer,
        Err(why) => {
            let cure = "check SUITE_CORE_URL (or SUITE_TOKEN_URL): scheme, host, port; HTTPS_PROXY and NO_PROXY; for an unknown \
                        certificate, the system's roots or SSL_CERT_FILE";
            contact.failure(format!("{place} cannot be reached: {why}"), cure);
            return Outcome::Hopeless;
        }
    };
    contact.headers("exchangeToken", false, &answer.headers);
    let (status, code) = (answer.status, answer.code());
    let mut changes: Vec<Change> = Vec::new();
    // Each change that gets another refusal is a step: the way out may need several.
    'steps: while answer.token().is_none() && changes.len() < 4 {
        for change in others(contact, &tried, app, origin, &answer).await {
            let mut other = tried.clone();
            for (_, variable, value) in &change {
                if let Ok(changed) = other.with(variable, value) {
                    other = changed;
                }
            }
            let audience = other.audience(app, origin);
            let Ok(next) = other.post(GRANT, &audience, "").await else {
                continue;
            };
            let before = (answer.status, answer.code());
            let is_step = next.is_refusal() && (next.status, next.code()) != before;
            let is_token = next.token().is_some() && is_for(&next, &audience) != Some(false);
            if is_token || (is_step && next.status != 404) {
                changes.extend(change);
                (tried, answer) = (other, next);
                continue 'steps;
            }
        }
        break;
    }
    if answer.token().is_none() {
        let (hopeless, cure) = cure(status, code);
        let cure = cure
            .replace("$APP", app.name())
            .replace("$URL", app.url_variable());
        let cure = cure.replace("$AUDIENCE", app.audience_variable());
        contact.failure(format!("{place} refuses: {status}, {code}"), cure);
        return if hopeless {
            Outcome::Hopeless
        } else {
            Outcome::Refused
        };
    }
    for (id, variable, value) in changes {
        let evidence = format!("{app}: refused ({status}, {code}) until {variable} is set");
        let cure = contact.set(variable, &value);
        // As it is set up, the SDK gets no token.
        contact.failure(evidence.clone(), cure.clone());
        contact.contradict(id, evidence, Some(&cure));
    }
    *exchange = tried;
    accept(contact, exchange, app, origin, &answer);
    Outcome::Token
}

/// Whether all applications will be refused alike, and what cures it.
fn cure(status: u16, code: &str) -> (bool, &'static str) {
    match (status, code) {
        (401, _) | (_, "invalid_client") => (
            true,
            "check SUITE_CLIENT_ID and SUITE_CLIENT_SECRET (sent in the header, and in the form)",
        ),
        (_, "unauthorized_client" | "invalid_grant") => {
            (true, "have the client allowed to exchange its credential")
        }
        (_, "invalid_scope") => (
            false,
            "name scopes that the client has for $APP, with `scopes(..)`",
        ),
        (404 | 405 | 410, _) => (
            true,
            "set SUITE_CORE_URL to the Platform, or SUITE_TOKEN_URL to the identity provider's endpoint",
        ),
        (..=399, _) => (
            true,
            "set SUITE_CORE_URL, or SUITE_TOKEN_URL: this is something else, such as a portal",
        ),
        (408 | 423 | 425 | 429 | 500.., _) => (
            true,
            "ask the operator of the identity provider, and run the doctor again",
        ),
        _ => (
            false,
            "set $AUDIENCE to the exact audience of $APP, and check $URL",
        ),
    }
}

/// What else can be set, if that may be why the exchange was refused.
async fn others(
    contact: &mut Contact,
    exchange: &Exchange,
    app: App,
    origin: &str,
    refused: &Answer,
) -> Vec<Vec<Change>> {
    let is_set = |name: &str| !exchange.get(name).is_empty();
    match (refused.status, refused.code()) {
        (404 | 405 | 410, _) if !is_set(URL) => {
            let Some(url) = exchange.announced().await else {
                return Vec::new();
            };
            if url.origin() == exchange.url.origin() {
                return vec![vec![("A02", URL, url.into())]];
            }
            // The credential goes to another origin only if a person says so.
            let host = url.origin().ascii_serialization();
            let found = format!("the Platform's metadata names a token endpoint at {host}");
            contact.problem(
                found,
                "if you trust it with the credential, set SUITE_TOKEN_URL to it",
            );
            Vec::new()
        }
        (401, _) | (_, "invalid_client") if !is_set(METHOD) => {
            vec![vec![("A04", METHOD, POST.to_owned())]]
        }
        (400, "invalid_request" | "invalid_target" | "no known code") => {
            // Exact comparison may want the slash, or the path.
            let name = app.audience_variable();
            let url = exchange.get(app.url_variable()).to_owned();
            let audiences = [
                String::new(),
                format!("{origin}/"),
                url,
                app.name().to_owned(),
            ];
            let audiences = audiences.into_iter().filter(|it| it != origin);
            let audiences = audiences.filter(|it| it.is_empty() || !is_set(name));
            let fields = ["", "resource"]
                .into_iter()
                .filter(|it| it.is_empty() || !is_set(FIELD));
            let pairs = audiences.flat_map(|audience| {
                fields.clone().map(move |field| {
                    let changes = [
                        ("A43", name, audience.clone()),
                        ("A03", FIELD, field.to_owned()),
                    ];
                    changes
                        .into_iter()
                        .filter(|(.., value)| !value.is_empty())
                        .collect()
                })
            });
            pairs
                .filter(|changes: &Vec<Change>| !changes.is_empty())
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the token is for that audience, if it says so.
fn is_for(answer: &Answer, audience: &str) -> Option<bool> {
    let claims = part(answer.json[answer.token()?].as_str()?, 1)?;
    let among = |all: &Vec<Value>| all.iter().any(|it| *it == *audience);
    let one = claims["aud"].as_str().map(|it| it == audience);
    one.or_else(|| claims["aud"].as_array().map(among))
}

/// Notes what reply and token say, by names and types.
fn accept(contact: &mut Contact, exchange: &mut Exchange, app: App, origin: &str, answer: &Answer) {
    let is_for = is_for(answer, &exchange.audience(app, origin));
    if exchange.get(app.audience_variable()).is_empty() && is_for == Some(true) {
        contact.by_origin.insert(app);
    }
    contact.by_platform = exchange.get(URL).is_empty();
    contact.ok(format!("{app}: a token"));
    let json = &answer.json;
    let names = named(json);
    let member = answer.token().unwrap_or_default();
    if member == "access_token" {
        let types = [
            ("token_type", "text"),
            ("scope", "text"),
            ("expires_in", "integer"),
        ];
        let fits = |(name, is): &(&str, &str)| json.get(name).is_none_or(|it| kind(it) == *is);
        let bearer = json["token_type"].as_str().unwrap_or("bearer");
        let holds = types.iter().all(fits) && bearer.eq_ignore_ascii_case("bearer");
        let is = if holds {
            ""
        } else {
            ", not all of the documented type, or not for bearers"
        };
        contact.judge(holds, "A05", format!("the reply has {names}{is}"));
    } else {
        let cure = "a `TokenSource` of your own, which takes the token from another member";
        contact.contradict("A05", format!("no access_token, but {names}"), Some(cure));
        member.clone_into(&mut exchange.member);
    }
    if is_for == Some(false) {
        let cure = "find its form field: SUITE_TOKEN_AUDIENCE_FIELD, or `with_form_field` of the credentials";
        contact.contradict(
            "A03",
            "the token is for another audience than was asked for",
            Some(cure),
        );
    }
    let token = json[member].as_str().unwrap_or_default();
    let [Some(header), Some(claims)] = [part(token, 0), part(token, 1)] else {
        return contact.contradict("A70", "the token is no JWT that can be read", None);
    };
    let [issued, ends] = ["iat", "exp"].map(|name| claims[name].as_i64());
    let now = jiff::Timestamp::now().as_second();
    if issued.is_some_and(|issued| now.abs_diff(issued) > 60) {
        contact.note_once("tokens say that they were issued at another time than now: a strict reader refuses them");
    }
    let is_signed = header["alg"] == "HS256" || header["alg"] == "ES256";
    let holds = is_signed && CLAIMS.iter().all(|it| !claims[*it].is_null());
    let evidence = format!("header {}; claims {}", named(&header), named(&claims));
    contact.judge(holds, "A70", evidence);
    let lives = ends
        .zip(issued)
        .map(|(ends, issued)| ends.saturating_sub(issued));
    if let Some(most) = json["expires_in"].as_i64().into_iter().chain(lives).max() {
        let evidence = format!("announced: {most} s, of which the SDK takes 300 at most");
        contact.judge((1..=300).contains(&most), "A41", evidence);
    }
}

/// What is refused, and how; and a token for one scope alone.
pub(crate) async fn probe(contact: &mut Contact, exchange: &Exchange, app: App, origin: &str) {
    let audience = exchange.audience(app, origin);
    let unknown = exchange.post("urn:suite-doctor:none", &audience, "").await;
    if let Some(answer) = unknown.ok().filter(Answer::is_refusal) {
        let error = &answer.json["error"];
        let known = error.is_string() || error["code"].is_string();
        let evidence = format!(
            "an unknown grant type gets {}, {}",
            answer.status,
            named(&answer.json)
        );
        contact.judge(known, "A06", evidence);
    }
    let unknown = exchange.post(GRANT, "urn:suite-doctor:nobody", "").await;
    let telling = |it: &Answer| it.is_refusal() || it.token().is_some();
    if let Some(answer) = unknown.ok().filter(telling) {
        let evidence = format!(
            "an unknown audience gets {}, {}",
            answer.status,
            answer.code()
        );
        contact.judge(answer.code() == "invalid_target", "A71", evidence);
    }
    let mut nobody = exchange.clone();
    nobody.variables.retain(|name, _| !name.contains("CLIENT"));
    match nobody.post(GRANT, &audience, "").await {
        Ok(open) if open.token().is_some() => {
            let cure = "ask the operator: whoever reaches it gets a token";
            contact.problem("the token endpoint gives tokens without a credential", cure);
        }
        Ok(refused) if refused.is_refusal() && !contact.is_contradicted("A04") => {
            let how = if exchange.get(METHOD) == POST {
                "in the form"
            } else {
                "by HTTP Basic"
            };
            contact.confirm("A04", format!("a credential is needed, and accepted {how}"));
        }
        _ => {}
    }
    let scopes = super::contact::operations(app)
        .iter()
        .find_map(|it| it.scopes.first());
    let scope = scopes.copied().unwrap_or_default();
    let Ok(narrow) = exchange.post(GRANT, &audience, scope).await else {
        return;
    };
    if narrow.token().is_some() && narrow.json["scope"] == scope {
        if !contact.is_contradicted("A03") {
            contact.confirm(
                "A03",
                format!("all fields are heeded: a token for {scope} alone is given"),
            );
        }
    } else if narrow.token().is_some() {
        contact.note(format!(
            "asked for {scope} alone, the endpoint does not say that it grants just that"
        ));
    } else if narrow.code() == "invalid_scope" {
        contact.note(format!(
            "the client may not have {scope}: what `scope` does is not seen"
        ));
    }
}
