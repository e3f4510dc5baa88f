//! The token exchange by hand, in the form that the SDK uses, so that replies and refusals can be looked at. What is
//! refused is tried in the other forms that the SDK can be set to.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use sdk_core::{AccessToken, App, TokenError, TokenFuture, TokenRequest, TokenSource};
use serde_json::Value;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::contact::{Contact, Meter};
use crate::report::Secrets;
use crate::shape::{kind, named};

/// The variables, which a cure adds to.
pub(crate) type Variables = BTreeMap<String, String>;

const LONGEST_REPLY: usize = 1 << 16;
const GRANT: &str = "client_credentials";
const POST: &str = "client_secret_post";
const METHOD: &str = "SUITE_TOKEN_AUTH_METHOD";
const FIELD: &str = "SUITE_TOKEN_AUDIENCE_FIELD";
const URL: &str = "SUITE_TOKEN_URL";
const METADATA: &str = "/.well-known/oauth-authorization-server";

/// The codes of RFC 6749, section 5.2, and RFC 8707. Others are not shown: they may be anything.
const CODES: [&str; 7] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
];

/// How an exchange is asked for, and which member of a reply is the token.
#[derive(Clone)]
pub(crate) struct Exchange {
    meter: Meter,
    /// Each token is one.
    secrets: Secrets,
    http: reqwest::Client,
    url: Url,
    pub(crate) variables: Variables,
    member: String,
    /// Whether nothing answers there.
    pub(crate) is_silent: bool,
}

struct Answer {
    status: u16,
    json: Value,
}

impl Answer {
    fn is_token(&self) -> bool {
        (200..300).contains(&self.status) && self.json.is_object()
    }

    fn code(&self) -> &'static str {
        let code = self.json["error"].as_str();
        let known = CODES.into_iter().find(|it| Some(*it) == code);
        known.unwrap_or("no known code")
    }
}

impl Exchange {
    /// As the variables say, which the SDK has checked.
    pub(crate) fn new(
        variables: Variables,
        meter: Meter,
        secrets: Secrets,
    ) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(10))
            .user_agent("suite-doctor");
        let exchange = Self {
            meter,
            secrets,
            http: http.build().map_err(|error| why(&error))?,
            url: Url::parse("https://core.invalid").map_err(|error| error.to_string())?,
            variables,
            member: "access_token".to_owned(),
            is_silent: false,
        };
        exchange.again()
    }

    /// The same with the address that its variables name now.
    fn again(mut self) -> Result<Self, String> {
        let platform = self.get("SUITE_CORE_URL").trim_end_matches('/');
        let platform = format!("{platform}/oauth/token");
        let url = Some(self.get(URL)).filter(|url| !url.is_empty());
        self.url = Url::parse(url.unwrap_or(&platform)).map_err(|error| error.to_string())?;
        Ok(self)
    }

    fn get(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    async fn post(&self, grant: &str, audience: &str, scope: &str) -> Result<Answer, String> {
        if !self.meter.may_send() {
            return Err("the announced requests are used up".to_owned());
        }
        self.meter.count();
        let (id, secret) = (self.get("SUITE_CLIENT_ID"), self.get("SUITE_CLIENT_SECRET"));
        let field = Some(self.get(FIELD)).filter(|it| !it.is_empty());
        let mut fields = vec![
            ("grant_type", grant),
            (field.unwrap_or("audience"), audience),
        ];
        fields.extend([("scope", scope)].into_iter().filter(|_| !scope.is_empty()));
        let mut request = self.http.post(self.url.clone());
        if id.is_empty() {
            // To see whether it is needed.
        } else if self.get(METHOD) == POST {
            fields.extend([("client_id", id), ("client_secret", secret)]);
        } else {
            // Form-encoded first (RFC 6749, section 2.3.1).
            let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            request = request.basic_auth(encoded(id), Some(encoded(secret)));
        }
        let form = Serializer::new(String::new()).extend_pairs(fields).finish();
        let form = request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form);
        let reply = form.header("accept", "application/json").send().await;
        let mut reply = reply.map_err(|error| why(&error))?;
        let (status, mut body) = (reply.status().as_u16(), Vec::new());
        while let Some(chunk) = reply.chunk().await.map_err(|error| why(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_REPLY {
                return Err(format!("the reply has more than {LONGEST_REPLY} bytes"));
            }
        }
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        for text in json
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(_, it)| it.as_str())
        {
            // Whatever came in place of a token may be one.
            if text.len() >= 16 && !text.contains(' ') && (200..300).contains(&status) {
                self.secrets.hide(text);
            }
        }
        Ok(Answer { status, json })
    }

    /// A token for `app`; on the way, what has to be set for it.
    pub(crate) async fn first(&mut self, contact: &mut Contact, app: App, origin: &str) -> bool {
        let place = format!(
            "{app}: {}{}",
            self.url.origin().ascii_serialization(),
            self.url.path()
        );
        let refused = match self.post(GRANT, &self.audience(app, origin), "").await {
            Ok(answer) if answer.is_token() => return self.accept(contact, app, origin, &answer),
            Ok(refused) => refused,
            Err(why) => {
                let cure = "check SUITE_CORE_URL (or SUITE_TOKEN_URL): scheme, host, port; HTTPS_PROXY and NO_PROXY; for an \
                            unknown certificate, the system's roots or SSL_CERT_FILE";
                contact.failure(format!("{place} cannot be reached: {why}"), cure);
                self.is_silent = true;
                return false;
            }
        };
        let (status, code) = (refused.status, refused.code());
        for (id, variable, value) in self.others(contact, app, origin, &refused).await {
            let mut other = self.clone();
            other.variables.insert(variable.to_owned(), value.clone());
            let Ok(other) = other.again() else {
                continue;
            };
            let audience = other.audience(app, origin);
            let answer = other.post(GRANT, &audience, "").await;
            let answer = answer.ok().filter(Answer::is_token);
            let answer = answer.filter(|it| other.is_for(it, &audience) != Some(false));
            if let Some(answer) = answer {
                let evidence = format!("{app}: refused ({status}, {code}) until {variable} is set");
                let cure = contact.set(variable, &value);
                contact.contradict(id, evidence, Some(&cure));
                *self = other;
                return self.accept(contact, app, origin, &answer);
            }
        }
        let cure = match (status, code) {
            (401, _) | (_, "invalid_client") => {
                "check SUITE_CLIENT_ID and SUITE_CLIENT_SECRET (sent in the header, and in the form)"
            }
            (_, "unauthorized_client" | "invalid_grant" | "invalid_scope") => {
                "have the client allowed to exchange its credential for $APP"
            }
            (404 | 405 | 410, _) => {
                "set SUITE_TOKEN_URL to the token endpoint of the identity provider"
            }
            (..=399, _) => {
                "set SUITE_CORE_URL, or SUITE_TOKEN_URL: this is something else, such as a portal"
            }
            (429 | 500.., _) => {
                "ask the operator of the identity provider, and run the doctor again"
            }
            _ => "set $AUDIENCE to the exact audience of $APP, and check $URL",
        };
        let cure = cure
            .replace("$APP", app.name())
            .replace("$URL", app.url_variable());
        let cure = cure.replace("$AUDIENCE", app.audience_variable());
        contact.failure(format!("{place} refuses: {status}, {code}"), cure);
        false
    }

    fn audience(&self, app: App, origin: &str) -> String {
        let own = self.variables.get(app.audience_variable());
        own.map_or(origin, String::as_str).to_owned()
    }

    /// Whether the token is for that audience, if it says so.
    fn is_for(&self, answer: &Answer, audience: &str) -> Option<bool> {
        let claims = part(answer.json[&self.member].as_str()?, 1)?;
        let among = |all: &Vec<Value>| all.iter().any(|it| *it == *audience);
        let one = claims["aud"].as_str().map(|it| it == audience);
        one.or_else(|| claims["aud"].as_array().map(among))
    }

    /// What else can be set, if that may be why the exchange was refused: the entry that then does not hold, and a variable.
    async fn others(
        &self,
        contact: &mut Contact,
        app: App,
        origin: &str,
        refused: &Answer,
    ) -> Vec<(&'static str, &'static str, String)> {
        let (audience, is_set) = (app.audience_variable(), |name| {
            self.variables.contains_key(name)
        });
        match (refused.status, refused.code()) {
            (404 | 405 | 410, _) if !is_set(URL) => {
                let named = self.announced(contact).await;
                named.map(|url| ("A02", URL, url)).into_iter().collect()
            }
            (401, _) | (_, "invalid_client") if !is_set(METHOD) => {
                vec![("A04", METHOD, POST.to_owned())]
            }
            (400..500, _) => {
                // Exact comparison may want the slash, or the path.
                let url = self.get(app.url_variable()).to_owned();
                let mut others = vec![("A03", FIELD, "resource".to_owned())];
                others.retain(|_| !is_set(FIELD));
                let audiences = [format!("{origin}/"), url, app.name().to_owned()];
                let audiences = audiences.map(|it| ("A43", audience, it)).into_iter();
                others.extend(audiences.filter(|(.., it)| it != origin && !is_set(audience)));
                others
            }
            _ => Vec::new(),
        }
    }

    /// The token endpoint in the Platform's metadata (RFC 8414). The credential goes there only if it is the same origin.
    async fn announced(&self, contact: &mut Contact) -> Option<String> {
        self.meter.count();
        let reply = self
            .http
            .get(self.url.join(METADATA).ok()?)
            .send()
            .await
            .ok()?;
        let reply: Bytes = reply.bytes().await.ok()?;
        let reply: Value = serde_json::from_slice(&reply).ok()?;
        let named = Url::parse(reply["token_endpoint"].as_str()?).ok()?;
        if named.origin() == self.url.origin() {
            return Some(named.into());
        }
        let origin = named.origin().ascii_serialization();
        let cure = format!(
            "if you trust it with the credential, set {URL}={origin}{}",
            named.path()
        );
        let found = format!("the Platform's metadata names a token endpoint at {origin}");
        contact.problem(found, cure);
        None
    }

    /// Notes what reply and token say, by names and types.
    fn accept(&mut self, contact: &mut Contact, app: App, origin: &str, answer: &Answer) -> bool {
        let (audience, json) = (self.audience(app, origin), &answer.json);
        let is_for = self.is_for(answer, &audience);
        if !self.variables.contains_key(app.audience_variable()) && is_for == Some(true) {
            contact.by_origin.insert(app);
        }
        contact.by_platform = !self.variables.contains_key(URL);
        let names = named(json);
        if json["access_token"].is_string() {
            let types = [
                ("token_type", "text"),
                ("scope", "text"),
                ("expires_in", "integer"),
            ];
            let fits = |(name, is): &(&str, &str)| json.get(name).is_none_or(|it| kind(it) == *is);
            contact.judge(
                types.iter().all(fits),
                "A05",
                format!("the reply has {names}"),
            );
        } else {
            let members = json.as_object().into_iter().flatten();
            let texts = members.filter_map(|(name, it)| Some((name, it.as_str()?)));
            let longest = texts.max_by_key(|(_, text)| text.len());
            self.member = longest.map_or_else(String::new, |(name, _)| name.clone());
            let cure = "a `TokenSource` of your own, which takes the token from another member";
            contact.contradict("A05", format!("no access_token, but {names}"), Some(cure));
        }
        let token = json[&self.member].as_str().unwrap_or_default();
        if token.is_empty() {
            contact.failure(
                format!("{app}: no token in the reply"),
                "ask the identity provider's operator",
            );
            return false;
        }
        contact.ok(format!("{app}: a token"));
        if is_for == Some(false) {
            let cure = "find its form field: SUITE_TOKEN_AUDIENCE_FIELD, or `with_form_field` of the credentials";
            contact.contradict(
                "A03",
                "the token is for another audience than was asked for",
                Some(cure),
            );
        }
        let [Some(header), Some(claims)] = [part(token, 0), part(token, 1)] else {
            contact.contradict("A70", "the token is no JWT that can be read", None);
            return true;
        };
        let issued = claims["iat"].as_i64();
        let age = issued.map_or(0, |issued| {
            jiff::Timestamp::now().as_second().saturating_sub(issued)
        });
        if age.abs() > 60 {
            contact.note(format!(
                "the token was issued {age} s ago, it says: a strict reader refuses it"
            ));
        }
        let needed = [
            "iss",
            "sub",
            "aud",
            "scope",
            "iat",
            "exp",
            "jti",
            "client_id",
        ];
        let holds = needed.iter().all(|it| claims.get(it).is_some())
            && (header["alg"] == "HS256" || header["alg"] == "ES256");
        let evidence = format!("header {}; claims {}", named(&header), named(&claims));
        contact.judge(holds, "A70", evidence);
        let lives = claims["exp"].as_i64().zip(issued);
        let lives = lives.map(|(exp, issued)| exp.saturating_sub(issued));
        if let Some(most) = json["expires_in"].as_i64().into_iter().chain(lives).max() {
            let evidence = format!("announced: {most} s, of which the SDK takes 300 at most");
            contact.judge((1..=300).contains(&most), "A41", evidence);
        }
        true
    }

    /// What is refused, and how; and a token for one scope alone.
    pub(crate) async fn probe(&self, contact: &mut Contact, app: App, origin: &str, scope: &str) {
        let audience = self.audience(app, origin);
        let final_one = |answer: &Answer| answer.status < 500 && answer.status != 429;
        let unknown = self.post("urn:suite-doctor:none", &audience, "").await;
        if let Some(answer) = unknown.ok().filter(final_one) {
            let error = &answer.json["error"];
            let known = error.is_string() || error["code"].is_string();
            let evidence = format!(
                "an unknown grant type gets {}, {}",
                answer.status,
                named(&answer.json)
            );
            contact.judge(known && answer.status >= 400, "A06", evidence);
        }
        let unknown = self.post(GRANT, "urn:suite-doctor:nobody", "").await;
        if let Some(answer) = unknown.ok().filter(final_one) {
            let evidence = format!(
                "an unknown audience gets {}, {}",
                answer.status,
                answer.code()
            );
            contact.judge(answer.code() == "invalid_target", "A71", evidence);
        }
        let mut nobody = self.clone();
        nobody.variables.retain(|name, _| !name.contains("CLIENT"));
        let open = nobody.post(GRANT, &audience, "").await;
        if open.as_ref().is_ok_and(Answer::is_token) {
            let cure = "ask the operator: whoever reaches it gets a token";
            contact.problem("the token endpoint gives tokens without a credential", cure);
        } else if open.is_ok() && !contact.is_contradicted("A04") {
            let how = if self.get(METHOD) == POST {
                "in the form"
            } else {
                "by HTTP Basic"
            };
            contact.confirm(
                "A04",
                format!("the credential is needed, and accepted {how}"),
            );
        }
        let Ok(narrow) = self.post(GRANT, &audience, scope).await else {
            return;
        };
        if narrow.is_token() && narrow.json["scope"] == scope {
            if !contact.is_contradicted("A03") {
                contact.confirm(
                    "A03",
                    format!("all fields are heeded; a token for {scope} alone is given"),
                );
            }
        } else if narrow.is_token() {
            contact.note(format!(
                "asked for {scope} alone, the reply does not say that it grants just that"
            ));
        } else if final_one(&narrow) {
            let cure = "do not ask for scopes, or for those that the client has";
            contact.problem(
                format!("a token for {scope} alone is refused ({})", narrow.status),
                cure,
            );
        }
    }
}

impl TokenSource for Exchange {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async move {
            let answer = self
                .post(GRANT, request.audience().unwrap_or_default(), "")
                .await;
            let json = answer.map_err(TokenError::unavailable)?.json;
            let token = json[&self.member].as_str();
            let token = token.ok_or_else(|| TokenError::unavailable("no token"))?;
            let scopes = json["scope"]
                .as_str()
                .unwrap_or_default()
                .split_whitespace();
            Ok(AccessToken::new(token).with_scopes(scopes))
        })
    }
}

/// A part of a JWT, as JSON.
fn part(token: &str, index: usize) -> Option<Value> {
    let part = token.split('.').nth(index)?;
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// The innermost cause, which says the most.
fn why(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let late = if error.is_timeout() {
        "no reply in time: "
    } else {
        ""
    };
    format!("{late}{cause}")
}
