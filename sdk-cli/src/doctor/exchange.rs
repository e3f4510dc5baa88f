//! Sends token requests in the form that the SDK uses, so that the doctor can examine responses and rejections.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use percent_encoding::percent_decode_str;
use reqwest::RequestBuilder;
use sdk_core::{AccessToken, App, TokenError, TokenFuture, TokenRequest, TokenSource};
use serde_json::Value;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::facts::Seen;
use super::report::{Meter, Report, Secrets};
use crate::context::Variables;

/// The name of the usual token request.
pub(crate) const REQUEST: &str = "the token request";
pub(crate) const GRANT: &str = "client_credentials";
pub(crate) const POST: &str = "client_secret_post";
pub(crate) const METHOD: &str = "SUITE_TOKEN_AUTH_METHOD";
pub(crate) const FIELD: &str = "SUITE_TOKEN_AUDIENCE_FIELD";
pub(crate) const URL: &str = "SUITE_TOKEN_URL";
const ID: &str = "SUITE_CLIENT_ID";
const SECRET: &str = "SUITE_CLIENT_SECRET";
const METADATA: &str = "/.well-known/oauth-authorization-server";
const LONGEST_RESPONSE: usize = 1 << 16;

/// The codes of RFC 6749, section 5.2, and RFC 8707. Other codes are not printed, because they may contain anything.
const CODES: &str = "invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope \
                     invalid_target";

/// The form of token requests, and the field of the response that contains the token.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub(crate) url: Url,
    pub(crate) variables: Variables,
    pub(crate) token_field: String,
    meter: Meter,
    secrets: Secrets,
    http: reqwest::Client,
}

/// Methods for responses of the token endpoint.
impl Seen {
    /// Returns the name of the field with the token, `access_token` or else the longest string that may be a token.
    pub(crate) fn token_field(&self) -> Option<String> {
        let body = self.success()?;
        let fields = body.as_object().filter(|it| !it.contains_key("error"))?;
        if let Some(token) = fields.get("access_token").and_then(Value::as_str) {
            return (!token.is_empty()).then(|| "access_token".to_owned());
        }
        let is_token = |it: &str| it.len() >= 16 && !it.contains(' ');
        let tokens = fields
            .iter()
            .filter(|(_, it)| it.as_str().is_some_and(is_token));
        let longest = tokens.max_by_key(|(_, it)| it.as_str().map_or(0, str::len));
        longest.map(|(name, _)| name.clone())
    }

    pub(crate) fn token(&self) -> Option<String> {
        let body = self.json()?;
        body[self.token_field()?].as_str().map(str::to_owned)
    }

    /// Returns the header (0) or the claims (1) of a token that is a JWT.
    pub(crate) fn part(&self, index: usize) -> Option<Value> {
        let token = self.token()?;
        let part = token.split('.').nth(index)?;
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).ok()?).ok()
    }

    /// Whether the token has this audience, or `None` if its audience can't be read.
    pub(crate) fn is_for(&self, audience: &str) -> Option<bool> {
        let claims = self.part(1)?;
        let among = |all: &Vec<Value>| all.iter().any(|it| *it == *audience);
        let one = claims["aud"].as_str().map(|it| it == audience);
        one.or_else(|| claims["aud"].as_array().map(among))
    }

    pub(crate) fn code(&self) -> Option<&'static str> {
        let body = self.json()?;
        let code = body["error"].as_str()?;
        CODES.split(' ').find(|it| *it == code)
    }

    pub(crate) fn rejection(&self) -> String {
        let code = self.code().unwrap_or("no known code");
        format!("{}, {code}", self.status)
    }
}

impl Exchange {
    /// Reads the form from these variables, which the SDK has checked.
    pub(crate) fn new(variables: Variables, report: &Report) -> Result<Self, String> {
        let get = |name: &str| variables.get(name).map_or("", |it| it.trim());
        let platform = get("SUITE_CORE_URL").trim_end_matches('/');
        let url = match get(URL) {
            "" => Url::parse(&format!("{platform}/oauth/token")),
            own => Url::parse(own),
        };
        let url = url.map_err(|error| error.to_string())?;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(10))
            .user_agent(super::USER_AGENT);
        // As in the SDK, plain HTTP goes only to loopback, and not through a proxy.
        let http = match url.scheme() {
            "http" => http.no_proxy(),
            _ => http,
        };
        let exchange = Self {
            url,
            variables,
            token_field: "access_token".to_owned(),
            meter: report.meter.clone(),
            secrets: report.secrets.clone(),
            http: http.build().map_err(|error| innermost(&error))?,
        };
        let (id, secret) = (exchange.get(ID), exchange.get(SECRET));
        let basic = format!("{}:{}", encoded(id), encoded(secret));
        for form in [secret, &encoded(secret), &BASE64_STANDARD.encode(basic)] {
            exchange.secrets.hide(form);
        }
        Ok(exchange)
    }

    /// Sets a variable. A new URL must have the scheme of the old URL, because the client's proxies depend on it.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        if name == URL
            && let Ok(url) = Url::parse(value)
        {
            self.url = url;
        }
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn without_credential(&self) -> Self {
        let mut other = self.clone();
        other.set(ID, "");
        other.set(SECRET, "");
        other
    }

    /// Returns a variable, or an empty string if it is not set.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    fn get_or<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        let own = Some(self.get(name)).filter(|it| !it.is_empty());
        own.unwrap_or(default)
    }

    pub(crate) fn audience(&self, app: App, origin: &str) -> String {
        self.get_or(app.audience_variable(), origin).to_owned()
    }

    pub(crate) async fn post(
        &self,
        name: &'static str,
        grant: &str,
        audience: &str,
        scope: &str,
    ) -> Result<Seen, String> {
        let (id, secret) = (self.get(ID), self.get(SECRET));
        let audience = (self.get_or(FIELD, "audience"), audience);
        let mut fields = vec![("grant_type", grant), audience, ("scope", scope)];
        let mut request = self.http.post(self.url.clone());
        if self.get(METHOD) == POST {
            fields.extend([("client_id", id), ("client_secret", secret)]);
        } else if !id.is_empty() {
            // RFC 6749, section 2.3.1, requires form encoding before Basic.
            request = request.basic_auth(encoded(id), Some(encoded(secret)));
        }
        fields.retain(|(_, value)| !value.is_empty());
        let form = Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let seen = self.send(name, request.body(form)).await?;
        self.secrets.hide(&seen.token().unwrap_or_default());
        Ok(seen)
    }

    async fn send(&self, name: &'static str, request: RequestBuilder) -> Result<Seen, String> {
        if !self.meter.may_send() {
            return Err("the limit of requests is reached".to_owned());
        }
        self.meter.count();
        let response = request.header("accept", "application/json").send().await;
        let mut response = response.map_err(|error| innermost(&error))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| innermost(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_RESPONSE {
                return Err(format!(
                    "the response has more than {LONGEST_RESPONSE} bytes"
                ));
            }
        }
        let seen = Seen::new(App::Platform, status, &headers, body.into());
        Ok(Seen { name, ..seen })
    }

    /// Returns the token endpoint in the Platform's metadata (RFC 8414), if it is safe to print.
    pub(crate) async fn announced(&self) -> Option<Url> {
        let metadata = self.http.get(self.url.join(METADATA).ok()?);
        let metadata = self.send("the metadata", metadata).await.ok()?.json()?;
        let url = Url::parse(metadata["token_endpoint"].as_str()?).ok()?;
        // The user may paste the proposed setting into a shell.
        let is_safe = |it: char| it.is_ascii_alphanumeric() || "/-._~%".contains(it);
        let is_plain = !url.authority().contains('@')
            && url.query().is_none()
            && url.fragment().is_none()
            && url.path().chars().all(is_safe);
        let path = percent_decode_str(url.path()).decode_utf8_lossy();
        (is_plain && !path.contains(self.get(SECRET))).then_some(url)
    }
}

impl TokenSource for Exchange {
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async move {
            let audience = request.audience().unwrap_or_default();
            let seen = self.post(REQUEST, GRANT, audience, "").await;
            let seen = seen.map_err(TokenError::unavailable)?;
            let json = seen.json().unwrap_or_default();
            let token = json[&self.token_field].as_str();
            let token = token.ok_or_else(|| TokenError::unavailable("no token"))?;
            let scopes = json["scope"].as_str().unwrap_or_default();
            Ok(AccessToken::new(token).with_scopes(scopes.split_whitespace()))
        })
    }
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.is_timeout() {
        format!("no response in time: {cause}")
    } else {
        cause.to_string()
    }
}
