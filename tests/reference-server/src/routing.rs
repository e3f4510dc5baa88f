//! Finds the operation that a request is for.

use http::Method;
use percent_encoding::percent_decode_str;

use crate::app::App;
use crate::generated::operations::Operation;
use crate::refusal::Refusal;

/// An operation and the values of its path parameters, decoded, in the order of the template.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) operation: Operation,
    pub(crate) params: Vec<String>,
}

/// Finds the operation of `app` for a method and a path that is still encoded.
pub(crate) fn route(app: App, method: &Method, path: &str) -> Result<Route, Refusal> {
    let mut allowed: Vec<&str> = Vec::new();
    for operation in Operation::ALL {
        if operation.app() != app {
            continue;
        }
        let Some(raw) = matches(operation.path(), path) else {
            continue;
        };
        if operation.method() != method.as_str() {
            allowed.push(operation.method());
            continue;
        }
        // Invalid UTF-8 becomes a character that no reference contains.
        let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
        let params = raw.into_iter().map(decoded).collect();
        return Ok(Route { operation, params });
    }
    if allowed.is_empty() {
        return Err(Refusal::not_found("no such path"));
    }
    Err(Refusal::method_not_allowed(allowed.join(", ")))
}

/// The raw values of a template's parameters, if the path has its form.
fn matches<'p>(template: &str, path: &'p str) -> Option<Vec<&'p str>> {
    let mut values = Vec::new();
    let mut given = path.split('/');
    for wanted in template.split('/') {
        let segment = given.next()?;
        if wanted.starts_with('{') {
            if segment.is_empty() {
                return None;
            }
            values.push(segment);
        } else if wanted != segment {
            return None;
        }
    }
    given.next().is_none().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_found_by_its_own_template() {
        for operation in Operation::ALL {
            let method = operation.method().parse().unwrap();
            let found = route(operation.app(), &method, operation.path()).unwrap();
            assert_eq!(found.operation, operation);
        }
    }

    #[test]
    fn other_paths_and_methods_are_refused() {
        let status =
            |method: Method, path: &str| route(App::Crm, &method, path).unwrap_err().status;
        assert_eq!(status(Method::GET, "/api/crm/v1/people/"), 404);
        assert_eq!(status(Method::GET, "/api/crm/v1/people/a/b"), 404);
        assert_eq!(status(Method::GET, "/oauth/token"), 404);
        assert_eq!(status(Method::HEAD, "/api/health"), 405);
        assert_eq!(status(Method::GET, "/api/crm/v1/commands"), 405);
    }
}
