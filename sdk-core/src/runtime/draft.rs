use std::fmt::Display;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use reqwest::Request;
use url::Url;

use crate::operation::Method;

/// What means something in a path, or is no character of one.
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

/// A value as one segment of a path, escaped.
#[must_use]
pub fn encode_segment(value: &(impl Display + ?Sized)) -> String {
    utf8_percent_encode(&value.to_string(), ESCAPED).to_string()
}

/// A request that is being put together: what differs between operations. What all requests have is added when they are
/// sent.
#[derive(Debug)]
pub struct Draft(Request);

impl Draft {
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self(Request::new(method.to_http(), url))
    }

    /// Adds a query parameter, if it has a value.
    #[must_use]
    pub fn query(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            let mut query = self.0.url_mut().query_pairs_mut();
            query.append_pair(name, &value.to_string());
        }
        self
    }

    /// Sets a body of JSON.
    #[must_use]
    pub fn json(mut self, body: Bytes) -> Self {
        *self.0.body_mut() = Some(body.into());
        self
    }

    /// Sets a body that is a form.
    #[must_use]
    pub fn form(mut self, body: Bytes) -> Self {
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        self.0.headers_mut().insert(CONTENT_TYPE, form);
        *self.0.body_mut() = Some(body.into());
        self
    }

    /// The request.
    #[must_use]
    pub fn build(self) -> Request {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Draft, encode_segment};
    use crate::operation::Method;

    #[test]
    fn a_value_is_one_segment_whatever_is_in_it() {
        assert_eq!(encode_segment("a-b.c_d~E0:@"), "a-b.c_d~E0:@");
        assert_eq!(
            encode_segment("a/b\\c?d#e%f ü"),
            "a%2Fb%5Cc%3Fd%23e%25f%20%C3%BC"
        );
    }

    #[test]
    fn what_is_set_is_in_the_query() {
        let url = "https://crm.example.com/people".parse().unwrap();
        let draft = Draft::new(Method::Get, url)
            .query("q", Some("a b&c"))
            .query("status", None::<&str>)
            .query("limit", Some(50));
        let url = "https://crm.example.com/people?q=a+b%26c&limit=50";
        assert_eq!(draft.build().url().as_str(), url);
    }
}
