//! Finds the operation of a request.

use http::Method;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

use crate::refusal::Refusal;
use crate::schema::Served;

/// An operation and the decoded values of its path parameters, in the order of the template.
#[derive(Clone, Debug)]
pub(crate) struct Route<'s> {
    pub(crate) operation: &'s Served,
    pub(crate) params: Vec<String>,
}

/// Finds the first operation that serves a method and a percent-encoded path.
pub(crate) fn route<'s>(
    operations: &'s [Served],
    method: &Method,
    path: &str,
) -> Result<Route<'s>, Refusal> {
    let mut allowed: Vec<&str> = Vec::new();
    let mut of_get = None;
    for operation in operations {
        let Some(raw) = matches(&operation.path, path) else {
            continue;
        };
        // Invalid UTF-8 becomes a character that no reference contains.
        let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
        let found = || Route {
            operation,
            params: raw.iter().copied().map(decoded).collect(),
        };
        if operation.method == method.as_str() {
            return Ok(found());
        }
        allowed.push(&operation.method);
        if operation.method == "GET" {
            allowed.push("HEAD");
            of_get = of_get.or_else(|| Some(found()));
        }
    }
    // HEAD is served as GET without the content, unless the contract has a HEAD operation.
    if let Some(route) = of_get.filter(|_| method == Method::HEAD) {
        return Ok(route);
    }
    allowed.dedup();
    if allowed.is_empty() {
        return Err(Refusal::not_found("no such path"));
    }
    Err(Refusal::method_not_allowed(allowed.join(", ")))
}

/// Returns a sort key that puts literal segments before parameters, and segments with a partial parameter before a
/// whole one.
pub(crate) fn literal_first(path: &str) -> Vec<usize> {
    let kind = |part: &str| match part.split_once('{') {
        None => 0,
        Some((before, rest)) => 1 + usize::from(before.is_empty() && rest.ends_with('}')),
    };
    path.split('/').map(kind).collect()
}

/// Decodes percent-encoded letters, digits and `-._~` (RFC 3986, section 6.2.2.2). Other encoded bytes, such as a
/// slash, stay encoded.
pub(crate) fn plain(path: &str) -> Cow<'_, str> {
    let mut parts = path.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).filter(|code| !code.starts_with('+'));
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match byte.filter(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte)) {
            Some(byte) => plain.extend([char::from(byte)].into_iter().chain(part[2..].chars())),
            None => plain.extend(["%", part]),
        }
    }
    if plain == path {
        path.into()
    } else {
        plain.into()
    }
}

/// Returns the raw values of a template's parameters, if the path matches.
fn matches<'p>(template: &str, path: &'p str) -> Option<Vec<&'p str>> {
    let mut values = Vec::new();
    let mut given = path.split('/');
    for wanted in template.split('/') {
        let segment = given.next()?;
        let Some((before, rest)) = wanted.split_once('{') else {
            if wanted != segment {
                return None;
            }
            continue;
        };
        let after = rest.split_once('}').map_or("", |(_, after)| after);
        let value = segment.strip_prefix(before)?.strip_suffix(after)?;
        if value.is_empty() {
            return None;
        }
        values.push(value);
    }
    given.next().is_none().then_some(values)
}
