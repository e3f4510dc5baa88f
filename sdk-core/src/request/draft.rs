use std::fmt::Display;

use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;
use url::form_urlencoded::{self, byte_serialize};

use crate::macros::debug_fields;
use crate::operation::Method;
use crate::request::check::ListStyle;
use crate::secret::redactor::Redactor;

/// Characters that have a meaning in a path or are not allowed in a path.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// Escapes a value so that it is one segment of a path.
#[must_use]
pub fn encode_segment(value: &(impl Display + ?Sized)) -> String {
    utf8_percent_encode(&value.to_string(), ESCAPED).to_string()
}

/// The method, URL and body of a call. Each attempt builds its request from the same draft and adds the headers.
pub struct Draft {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) body: Option<Bytes>,
    /// Whether the body is a form instead of JSON.
    pub(crate) is_form: bool,
}

/// Form fields whose values are not secret.
const PUBLIC_FIELDS: [&str; 5] = ["grant_type", "scope", "audience", "resource", "client_id"];

impl Draft {
    pub(crate) fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            body: None,
            is_form: false,
        }
    }

    /// Adds a query parameter if it has a value.
    #[must_use]
    pub fn query(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            let mut query = self.url.query_pairs_mut();
            query.append_pair(name, &value.to_string());
        }
        self
    }

    /// Adds a list as a query parameter. Adds nothing if the list is absent or empty.
    #[must_use]
    pub fn list(mut self, name: &str, values: Option<&[impl Display]>, style: ListStyle) -> Self {
        let values = values.unwrap_or_default();
        if style == ListStyle::Repeated {
            let each = |draft: Self, value| draft.query(name, Some(value));
            return values.iter().fold(self, each);
        }
        if !values.is_empty() {
            let escaped = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let items: Vec<_> = values.iter().map(|it| escaped(&it.to_string())).collect();
            let pair = format!("{}={}", escaped(name), items.join(","));
            let own = self.url.query().map(|own| format!("{own}&"));
            self.url.set_query(Some(&(own.unwrap_or_default() + &pair)));
        }
        self
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: impl Into<Bytes>) -> Self {
        self.json_if(Some(body))
    }

    /// Sets a JSON body if it is present.
    #[must_use]
    pub fn json_if(mut self, body: Option<impl Into<Bytes>>) -> Self {
        if let Some(body) = body {
            self.body = Some(body.into());
        }
        self
    }

    /// Sets a form body.
    #[must_use]
    pub fn form(self, body: impl Into<Bytes>) -> Self {
        self.form_if(Some(body))
    }

    /// Sets a form body if it is present.
    #[must_use]
    pub fn form_if(mut self, body: Option<impl Into<Bytes>>) -> Self {
        self.is_form = body.is_some();
        self.json_if(body)
    }

    /// Adds the body's secrets to the redactor: JSON fields named like secrets, and form fields that aren't public.
    pub(crate) fn add_secrets_to(&self, redactor: &mut Redactor) {
        let Some(body) = &self.body else { return };
        if !self.is_form {
            return redactor.add_secrets_of(body);
        }
        for (name, value) in form_urlencoded::parse(body) {
            if !PUBLIC_FIELDS.contains(&&*name) {
                redactor.add(&value);
            }
        }
    }
}

// Omits query and body, which may be confidential.
debug_fields! { Draft |it| method: it.method, path: it.url.path(), body_bytes: it.body.as_ref().map(Bytes::len) }

#[cfg(test)]
mod tests {
    use super::{Draft, encode_segment};
    use crate::operation::Method;

    #[test]
    fn a_value_becomes_one_path_segment() {
        assert_eq!(encode_segment("a-b.c_d~E0:@"), "a-b.c_d~E0:@");
        assert_eq!(
            encode_segment("a/b\\c?d#e%f ü"),
            "a%2Fb%5Cc%3Fd%23e%25f%20%C3%BC"
        );
    }

    #[test]
    fn only_parameters_with_a_value_appear_in_the_query() {
        let url = "https://crm.example.com/people".parse().unwrap();
        let draft = Draft::new(Method::Get, url)
            .query("q", Some("a b&c"))
            .query("status", None::<&str>)
            .query("limit", Some(50));
        let url = "https://crm.example.com/people?q=a+b%26c&limit=50";
        assert_eq!(draft.url.as_str(), url);
    }
}
