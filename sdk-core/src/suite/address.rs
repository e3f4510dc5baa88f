//! Checks settings and addresses before anything is sent.

use url::Url;

use crate::error::Error;
use crate::transport::loopback::is_plain_loopback;

/// Returns the error for an invalid setting. `name` is the variable or builder method that set it.
pub(crate) fn invalid_setting(name: &str, rule: &str, value: &str) -> Error {
    Error::configuration(format!("`{name}` must {rule}: got {value}"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Paths are appended to it.
    Base,
    /// It is used unchanged, with its query (RFC 6749, section 3.2).
    TokenEndpoint,
}

/// Parses an address. It must be HTTPS, or HTTP to loopback, without user information and fragment. A base URL must not
/// have a query.
///
/// Errors don't repeat the whole address, because it may contain a password or a key.
pub(crate) fn parse_url(
    name: &str,
    value: &str,
    purpose: Purpose,
    insecure_http: bool,
) -> Result<Url, Error> {
    let invalid = |rule: &str, got: &str| Err(invalid_setting(name, rule, got));
    let url = match Url::parse(value) {
        Ok(url) => url,
        Err(error) => {
            let got = format!("an invalid URL ({error})");
            let rule = "be an absolute URL, such as https://host.example";
            return Err(invalid_setting(name, rule, &got).with_cause(error));
        }
    };
    if !url.username().is_empty() || url.password().is_some() {
        let rule = "have no user name and no password";
        return invalid(rule, "a URL with user information");
    }
    if url.fragment().is_some() {
        return invalid("have no fragment", "a URL with a `#`");
    }
    if url.query().is_some() && purpose == Purpose::Base {
        return invalid(
            "have no query, because paths are appended to it",
            "a URL with a `?`",
        );
    }
    let origin = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    match url.scheme() {
        // The parser rejects both schemes without a host.
        "https" => Ok(url),
        "http" if insecure_http || is_plain_loopback(&url) => Ok(url),
        "http" => {
            let rule = "be HTTPS, or HTTP to loopback (`allow_insecure_http` lifts this rule)";
            invalid(rule, &origin)
        }
        _ => invalid("be an http or https URL with a host", &origin),
    }
}

#[cfg(test)]
mod tests {
    use super::{Purpose, parse_url};

    #[test]
    fn only_https_and_loopback_are_accepted() {
        let good = "https://crm.example.com http://127.0.0.1:4010 http://localhost http://crm.localhost:80 \
                    http://[::1]:1/base";
        for good in good.split(' ') {
            assert!(parse_url("X", good, Purpose::Base, false).is_ok(), "{good}");
        }
        let no_url = "be an absolute URL, such as https://host.example: got an invalid URL";
        let no_http = "be an http or https URL with a host: got ftp://localhost";
        let plain =
            "be HTTPS, or HTTP to loopback (`allow_insecure_http` lifts this rule): got http://";
        for (bad, rule) in [
            ("http://crm.example.com", plain),
            ("http://localhost.", plain),
            ("http://localhost.example.com", plain),
            ("http://notlocalhost", plain),
            ("http://127.0.0.1.example.com", plain),
            ("http://[::ffff:127.0.0.1]", plain),
            ("http://0.0.0.0", plain),
            ("ftp://localhost", no_http),
            ("crm.example.com", no_url),
            (
                "https://a/?q",
                "have no query, because paths are appended to it",
            ),
            ("https://a/#f", "have no fragment"),
            ("", no_url),
        ] {
            let error = parse_url("X", bad, Purpose::Base, false).unwrap_err();
            let rule = format!("`X` must {rule}");
            assert!(error.to_string().starts_with(&rule), "{bad}: {error}");
        }
        assert!(parse_url("X", "http://crm.example.com", Purpose::Base, true).is_ok());
        assert!(parse_url("X", "https://a/?q=1", Purpose::TokenEndpoint, false).is_ok());
    }

    #[test]
    fn user_information_is_rejected_and_not_repeated() {
        let text = "https://ann:hunter2@crm.example.com";
        let error = parse_url("SUITE_CRM_URL", text, Purpose::Base, true).unwrap_err();
        let why = "`SUITE_CRM_URL` must have no user name and no password: got a URL with user information";
        assert_eq!(error.to_string(), why);
    }
}
