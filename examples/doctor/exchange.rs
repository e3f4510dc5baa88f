//! The token exchange by hand, in the form that the SDK uses, so that replies and refusals can be looked at.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use http::HeaderMap;
use percent_encoding::percent_decode_str;
use sdk_core::{AccessToken, App, TokenError, TokenFuture, TokenRequest, TokenSource};
use serde_json::Value;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::contact::Meter;
use super::report::Secrets;

/// The variables, which a cure adds to.
pub(crate) type Variables = BTreeMap<String, String>;

pub(crate) const GRANT: &str = "client_credentials";
pub(crate) const POST: &str = "client_secret_post";
pub(crate) const METHOD: &str = "SUITE_TOKEN_AUTH_METHOD";
pub(crate) const FIELD: &str = "SUITE_TOKEN_AUDIENCE_FIELD";
pub(crate) const URL: &str = "SUITE_TOKEN_URL";
const METADATA: &str = "/.well-known/oauth-authorization-server";
const LONGEST_REPLY: usize = 1 << 16;

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
    pub(crate) url: Url,
    pub(crate) variables: Variables,
    pub(crate) member: String,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Value,
}

impl Answer {
    /// The member with the token, if there is one.
    pub(crate) fn token(&self) -> Option<&str> {
        let is_token = |it: &Value| {
            it.as_str()
                .is_some_and(|it| it.len() >= 16 && !it.contains(' '))
        };
        let members = self
            .json
            .as_object()
            .filter(|it| !it.contains_key("error"))?;
        let longest = members.iter().filter(|(_, it)| is_token(it));
        let longest = longest.max_by_key(|(_, it)| it.as_str().map_or(0, str::len));
        let named = members.get("access_token").and_then(Value::as_str);
        let name = match named {
            Some(token) => (!token.is_empty()).then_some("access_token"),
            None => longest.map(|(name, _)| name.as_str()),
        };
        name.filter(|_| (200..300).contains(&self.status))
    }

    pub(crate) fn code(&self) -> &'static str {
        let code = self.json["error"].as_str();
        let known = CODES.into_iter().find(|it| Some(*it) == code);
        known.unwrap_or("no known code")
    }

    /// Whether it says no for good.
    pub(crate) fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status) && !matches!(self.status, 408 | 423 | 425 | 429)
    }
}

impl Exchange {
    /// As the variables say, which the SDK has checked.
    pub(crate) fn new(
        variables: Variables,
        meter: Meter,
        secrets: Secrets,
    ) -> Result<Self, String> {
        let get = |name: &str| variables.get(name).map_or("", String::as_str);
        let platform = format!(
            "{}/oauth/token",
            get("SUITE_CORE_URL").trim().trim_end_matches('/')
        );
        let url = Some(get(URL))
            .filter(|url| !url.is_empty())
            .unwrap_or(&platform);
        let url = Url::parse(url.trim()).map_err(|error| error.to_string())?;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(10))
            .user_agent("suite-doctor");
        // As the SDK does: what is not encrypted goes to loopback, and not to a proxy.
        let http = if url.scheme() == "http" {
            http.no_proxy()
        } else {
            http
        };
        let (id, secret) = (get("SUITE_CLIENT_ID"), get("SUITE_CLIENT_SECRET"));
        let basic = format!("{}:{}", encoded(id), encoded(secret));
        for form in [secret, &encoded(secret), &BASE64_STANDARD.encode(basic)] {
            secrets.hide(form);
        }
        Ok(Self {
            meter,
            secrets,
            http: http.build().map_err(|error| why(&error))?,
            url,
            variables,
            member: "access_token".to_owned(),
        })
    }

    /// The same with a variable set.
    pub(crate) fn with(&self, name: &str, value: &str) -> Result<Self, String> {
        let mut variables = self.variables.clone();
        variables.insert(name.to_owned(), value.to_owned());
        Self::new(variables, self.meter.clone(), self.secrets.clone())
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    pub(crate) fn audience(&self, app: App, origin: &str) -> String {
        let own = self.get(app.audience_variable());
        if own.is_empty() {
            origin.to_owned()
        } else {
            own.to_owned()
        }
    }

    /// Asks for a token; without a client id, without a credential.
    pub(crate) async fn post(
        &self,
        grant: &str,
        audience: &str,
        scope: &str,
    ) -> Result<Answer, String> {
        let (id, secret) = (self.get("SUITE_CLIENT_ID"), self.get("SUITE_CLIENT_SECRET"));
        let field = Some(self.get(FIELD)).filter(|it| !it.is_empty());
        let audience = (field.unwrap_or("audience"), audience);
        let mut fields = vec![("grant_type", grant), audience, ("scope", scope)];
        let mut request = self.http.post(self.url.clone());
        if self.get(METHOD) == POST {
            fields.extend([("client_id", id), ("client_secret", secret)]);
        } else if !id.is_empty() {
            // Form-encoded first (RFC 6749, section 2.3.1).
            request = request.basic_auth(encoded(id), Some(encoded(secret)));
        }
        fields.retain(|(_, value)| !value.is_empty());
        let form = Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = self.send(request.body(form)).await?;
        if let Some(token) = answer.token() {
            self.secrets
                .hide(answer.json[token].as_str().unwrap_or_default());
        }
        Ok(answer)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Answer, String> {
        if !self.meter.may_send() {
            return Err("the announced requests are used up".to_owned());
        }
        self.meter.count();
        let reply = request.header("accept", "application/json").send().await;
        let mut reply = reply.map_err(|error| why(&error))?;
        let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(|error| why(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_REPLY {
                return Err(format!("the reply has more than {LONGEST_REPLY} bytes"));
            }
        }
        let json = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Answer {
            status,
            headers,
            json,
        })
    }

    /// The token endpoint in the Platform's metadata (RFC 8414), if it is a plain address.
    pub(crate) async fn announced(&self) -> Option<Url> {
        let metadata = self.http.get(self.url.join(METADATA).ok()?);
        let metadata = self.send(metadata).await.ok()?;
        let url = Url::parse(metadata.json["token_endpoint"].as_str()?).ok()?;
        let path = percent_decode_str(url.path()).decode_utf8_lossy();
        let plain =
            !url.authority().contains('@') && url.query().is_none() && url.fragment().is_none();
        (plain && !path.contains(self.get("SUITE_CLIENT_SECRET"))).then_some(url)
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

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// A part of a JWT, as JSON.
pub(crate) fn part(token: &str, index: usize) -> Option<Value> {
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
