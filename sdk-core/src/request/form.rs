//! Serializes a value as a form. The form has the value's JSON fields.

use std::error::Error;

use bytes::Bytes;
use secrecy::zeroize::Zeroizing;
use serde::Serialize;
use url::form_urlencoded::Serializer;

use crate::json::fast::scanner::members;

/// Writes strings unquoted, and numbers and booleans as in JSON. Omits null. An object or array is an error.
///
/// A form may contain a secret, so all intermediate memory is wiped on drop.
pub(super) fn encode<T: Serialize>(value: &T) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let json = Zeroizing::new(serde_json::to_string(value)?);
    if !json.starts_with('{') {
        return Err("a form must be an object".into());
    }
    let mut form = Serializer::new(String::with_capacity(json.len() * 3));
    for (name, value) in members(&json) {
        match value.as_bytes().first() {
            Some(b'n') => {}
            Some(b'"') => {
                let text = Zeroizing::new(serde_json::from_str::<String>(value)?);
                form.append_pair(&name, &text);
            }
            Some(b'{' | b'[') => return Err(format!("field `{name}` is not a scalar").into()),
            _ => {
                form.append_pair(&name, value);
            }
        }
    }
    let form = Zeroizing::new(form.finish().into_bytes());
    Ok(Bytes::from_owner(form))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::encode;

    #[test]
    fn json_fields_become_form_fields() {
        let form = encode(&json!({"a": "x y&=ü", "b": 1.50, "c": true, "d": null, "e": ""}));
        assert_eq!(form.unwrap(), "a=x+y%26%3D%C3%BC&b=1.5&c=true&e=");
    }

    #[test]
    fn the_error_names_a_field_that_is_not_a_scalar() {
        let error = encode(&json!({"nested": {"secret": "s3cret"}})).unwrap_err();
        assert_eq!(error.to_string(), "field `nested` is not a scalar");
        assert!(encode(&"text").is_err());
    }
}
