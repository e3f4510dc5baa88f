//! HTTP Basic authentication: ID and secret are form-encoded first (RFC 6749, section 2.3.1).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::params::form_decode;

pub(super) fn credentials(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let bytes = STANDARD.decode(encoded.trim()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((strictly_decoded(id)?, strictly_decoded(secret)?))
}

/// Decodes a form-encoded string, and rejects a string that no encoder would produce.
fn strictly_decoded(text: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._*~".contains(&byte);
    let hex =
        |part: &str| part.len() > 1 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    let parts = text.split('%');
    let encoded = parts.clone().all(|part| part.bytes().all(plain)) && parts.skip(1).all(hex);
    encoded.then(|| form_decode(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_that_are_not_form_encoded_are_rejected() {
        for text in ["id:a:b", "id:100%", "id:a b", "id:é", "id"] {
            let header = format!("Basic {}", STANDARD.encode(text));
            assert_eq!(credentials(&header), None, "{text}");
        }
        assert_eq!(credentials("Bearer abc"), None);
    }
}
