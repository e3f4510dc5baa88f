//! Addresses and environment variables, checked before anything is sent.

use url::{Host, Url};

use crate::error::Error;

/// The variables that [`Suite::from_env`](crate::Suite::from_env) reads.
pub(crate) const CORE_URL: &str = "SUITE_CORE_URL";
pub(crate) const TOKEN_URL: &str = "SUITE_TOKEN_URL";
pub(crate) const CLIENT_ID: &str = "SUITE_CLIENT_ID";
pub(crate) const CLIENT_SECRET: &str = "SUITE_CLIENT_SECRET";

/// The variable with the routed origin of an application. The Platform's is the core URL.
pub(crate) fn url_variable(application: &str) -> String {
    if application == "platform" {
        CORE_URL.to_owned()
    } else {
        format!("SUITE_{}_URL", application.to_uppercase())
    }
}

/// The variable with the audience of an application.
pub(crate) fn audience_variable(application: &str) -> String {
    format!("SUITE_{}_AUDIENCE", application.to_uppercase())
}

/// Parses an address: HTTPS, or HTTP to loopback; without user information, query and fragment.
///
/// `name` is what the caller knows the address as, a variable or a builder method. The value of a refused address is
/// never repeated whole, because user information may stand in it.
pub(crate) fn parse_url(name: &str, text: &str, insecure_http: bool) -> Result<Url, Error> {
    let refused = |rule: &str, value: &str| {
        Error::configuration(format!("`{name}` must {rule}: got {value}"))
    };
    let url = Url::parse(text).map_err(|error| {
        refused(
            "be an absolute URL",
            &format!("one that is unreadable ({error})"),
        )
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "hold no user name or password",
            "a URL with user information",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused(
            "end with its path",
            "a URL with a query or a fragment",
        ));
    }
    let shown = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    match (url.scheme(), url.host()) {
        ("https", Some(_)) => Ok(url),
        ("http", Some(host)) if insecure_http || is_loopback(&host) => Ok(url),
        ("http", Some(_)) => Err(refused(
            "be HTTPS, or HTTP to a loopback address (`allow_insecure_http` lifts this)",
            &shown,
        )),
        _ => Err(refused("be an http or https URL with a host", &shown)),
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_url;

    #[test]
    fn only_https_or_loopback_is_taken() {
        for good in [
            "https://crm.example.com",
            "http://127.0.0.1:4010",
            "http://localhost",
            "http://[::1]:1/base",
        ] {
            assert!(parse_url("X", good, false).is_ok(), "{good}");
        }
        for bad in [
            "http://crm.example.com",
            "ftp://localhost",
            "crm.example.com",
            "https://a/?q",
            "https://a/#f",
            "",
        ] {
            assert!(parse_url("X", bad, false).is_err(), "{bad}");
        }
        assert!(parse_url("X", "http://crm.example.com", true).is_ok());
    }

    #[test]
    fn user_information_is_refused_without_being_repeated() {
        let error = parse_url("SUITE_CRM_URL", "https://ann:hunter2@crm.example.com", true)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("SUITE_CRM_URL") && !error.contains("hunter2"),
            "{error}"
        );
    }
}
