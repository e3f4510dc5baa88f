//! Addresses and environment variables, checked before anything is sent.

use url::Url;

use crate::error::Error;
use crate::transport::loopback::is_plain_loopback;

/// The variables that [`Suite::from_env`](crate::Suite::from_env) reads.
pub(crate) const TOKEN_URL: &str = "SUITE_TOKEN_URL";
pub(crate) const CLIENT_ID: &str = "SUITE_CLIENT_ID";
pub(crate) const CLIENT_SECRET: &str = "SUITE_CLIENT_SECRET";

/// What an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Paths are appended to it.
    Base,
    /// It is asked as it is, with its query (RFC 6749, section 3.2).
    TokenEndpoint,
}

/// Parses an address: HTTPS, or HTTP to loopback; without user information and fragment, and a base without a query.
///
/// `name` is what the caller knows the address as, a variable or a builder method. The value of a refused address is
/// never repeated whole, because user information or a key may stand in it.
pub(crate) fn parse_url(
    name: &str,
    text: &str,
    purpose: Purpose,
    insecure_http: bool,
) -> Result<Url, Error> {
    let refused = |rule: &str, value: &str| {
        Error::configuration(format!("`{name}` must {rule}: got {value}"))
    };
    let url = Url::parse(text).map_err(|error| {
        refused(
            "be an absolute URL",
            &format!("one that is unreadable ({error})"),
        )
        .with_cause(error)
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "hold no user name or password",
            "a URL with user information",
        ));
    }
    if url.fragment().is_some() || url.query().is_some() && purpose == Purpose::Base {
        return Err(refused(
            "end with its path",
            "a URL with a query or a fragment",
        ));
    }
    let shown = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    match url.scheme() {
        "https" if url.has_host() => Ok(url),
        "http" if insecure_http && url.has_host() || is_plain_loopback(&url) => Ok(url),
        "http" if url.has_host() => Err(refused(
            "be HTTPS, or HTTP to a loopback address (`allow_insecure_http` lifts this)",
            &shown,
        )),
        _ => Err(refused("be an http or https URL with a host", &shown)),
    }
}

/// An audience goes into a form and into messages.
pub(crate) fn check_audience(name: &str, text: &str) -> Result<(), Error> {
    if text.is_empty() || text.contains(char::is_control) {
        let rule = "be a text, neither empty nor with control characters";
        return Err(Error::configuration(format!(
            "`{name}` must {rule}: got {text:?}"
        )));
    }
    Ok(())
}

/// Addresses that a build without TLS cannot reach.
pub(crate) fn without_tls(addresses: &[Url], has_tls: bool) -> Option<Error> {
    let address = addresses.iter().find(|url| url.scheme() == "https")?;
    (!has_tls).then(|| {
        Error::configuration(format!(
            "{} needs TLS, which this build has not: enable the feature `rustls` or `native-tls` of the client crate",
            address.origin().ascii_serialization()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::{Purpose, parse_url, without_tls};

    #[test]
    fn fault_62_without_tls_an_https_address_names_the_feature() {
        let addresses =
            ["http://127.0.0.1:1", "https://crm.example.com/x"].map(|text| text.parse().unwrap());
        assert!(without_tls(&addresses, true).is_none());
        assert!(without_tls(&addresses[..1], false).is_none());
        let error = without_tls(&addresses, false).unwrap().to_string();
        assert!(
            error.contains("https://crm.example.com") && error.contains("`rustls`"),
            "{error}"
        );
    }

    #[test]
    fn only_https_or_loopback_is_taken() {
        for good in [
            "https://crm.example.com",
            "http://127.0.0.1:4010",
            "http://localhost",
            "http://crm.localhost:80",
            "http://[::1]:1/base",
        ] {
            assert!(parse_url("X", good, Purpose::Base, false).is_ok(), "{good}");
        }
        for bad in [
            "http://crm.example.com",
            "http://localhost.",
            "http://localhost.example.com",
            "http://notlocalhost",
            "http://127.0.0.1.example.com",
            "http://[::ffff:127.0.0.1]",
            "http://0.0.0.0",
            "ftp://localhost",
            "crm.example.com",
            "https://a/?q",
            "https://a/#f",
            "",
        ] {
            assert!(parse_url("X", bad, Purpose::Base, false).is_err(), "{bad}");
        }
        assert!(parse_url("X", "http://crm.example.com", Purpose::Base, true).is_ok());
        assert!(parse_url("X", "https://a/?q=1", Purpose::TokenEndpoint, false).is_ok());
    }

    #[test]
    fn user_information_is_refused_without_being_repeated() {
        let text = "https://ann:hunter2@crm.example.com";
        let error = parse_url("SUITE_CRM_URL", text, Purpose::Base, true)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("SUITE_CRM_URL") && !error.contains("hunter2"),
            "{error}"
        );
    }
}
