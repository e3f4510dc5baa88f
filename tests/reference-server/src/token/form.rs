//! The form of a token request.

use std::collections::BTreeMap;

use super::refusal::TokenError;
use crate::message::Request;
use crate::params::form_decode;

/// The fields of the form, each at most once, none of them empty.
#[derive(Debug)]
pub(super) struct Form(BTreeMap<String, String>);

impl Form {
    pub(super) fn read(request: &Request) -> Result<Form, TokenError> {
        if request.media_type().as_deref() != Some("application/x-www-form-urlencoded") {
            return Err(TokenError::invalid_request("the body must be form-encoded"));
        }
        let unreadable = TokenError::invalid_request("the body is not a valid form");
        let body = request
            .body()
            .map_err(|_| TokenError::invalid_request("the body is too long"))?;
        let text = std::str::from_utf8(body).map_err(|_| unreadable)?;
        let mut fields = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = form_decode(name).map_err(|_| unreadable)?;
            let value = form_decode(value).map_err(|_| unreadable)?;
            if fields.insert(name, value).is_some() {
                return Err(TokenError::invalid_request(
                    "a field is given more than once",
                ));
            }
        }
        // A field without a value counts as left out (RFC 6749, section 3.2).
        fields.retain(|_, value| !value.is_empty());
        Ok(Form(fields))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}
