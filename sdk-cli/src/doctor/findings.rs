//! Findings on responses: failures with their remedies, page sizes, contract versions, scopes and headers.

use sdk_core::{
    App, ContractMatch, ContractReport, Error, ErrorKind, MissingScopes, Operation, TokenError,
};
use serde_json::Value;

use super::facts::{Facts, Seen, records};
use super::report::Report;
use crate::catalog::operations;

/// Returns the JSON of a success. For any other response, adds a failure with its remedy.
pub(super) fn success(report: &mut Report, seen: &Seen) -> Option<Value> {
    if let Some(json) = seen.success() {
        return Some(json);
    }
    let is_page = seen.body.trim_ascii_start().starts_with(b"<");
    let (found, remedy) = match seen.status {
        200..=299 if is_page => ("a web page", "set $URL to the application, not to a portal"),
        200..=299 => ("no JSON", "check $URL; `raw_call` returns the bytes"),
        300..=399 => ("a redirect, which the SDK doesn't follow", LOCATION),
        401 => ("the token is not accepted", AUDIENCE),
        403 => ("forbidden", RIGHTS),
        404 | 405 => ("not found", "set $URL to the application's routed origin"),
        429 => ("a rate limit", LATER),
        500.. => (
            "down, or not configured",
            "ask the operator, then run the doctor again",
        ),
        _ => ("rejected", "read the body with `raw_call`"),
    };
    let found = format!("{}: {found} ({})", seen.label(), seen.status);
    report.failure(found, for_app(remedy, seen.app));
    None
}

const LOCATION: &str = "set $URL to the target of the redirect";
const AUDIENCE: &str = "set $AUDIENCE to the exact audience, and check $URL and SUITE_TOKEN_URL";
const RIGHTS: &str = "ask for the client's scopes, the entitlement `$APP` and a workspace";
const LATER: &str = "run the doctor later; in a service, `max_in_flight` limits the load";

/// Returns a remedy with the name and the variables of an application.
pub(super) fn for_app(remedy: &str, app: App) -> String {
    let remedy = remedy.replace("$URL", app.url_variable());
    let remedy = remedy.replace("$AUDIENCE", app.audience_variable());
    remedy.replace("$APP", app.name())
}

/// Adds a finding if a page has more records than requested.
pub(super) fn page_size(report: &mut Report, seen: &Seen, limit: usize) {
    let is_page = seen.operation.is_some_and(|it| it.cursor);
    let page = seen.success().filter(|_| is_page);
    let count = page.map_or(0, |page| records(&page).len());
    if count > limit {
        let found = format!(
            "{} returns {count} records with limit {limit}",
            seen.label()
        );
        report.problem(found, "set `limit`, and count the records of each page");
    }
}

pub(super) fn contract_version(report: &mut Report, contract: &ContractReport) {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".+-".contains(letter);
    let version = match contract.served.as_deref() {
        None => "no version",
        Some(version) if version.len() <= 32 && version.chars().all(is_plain) => version,
        Some(_) => "a version that is not printed",
    };
    let (app, built_for) = (contract.application, contract.built_for);
    let found = format!("{app}: built for {built_for}, served {version}");
    let differences = contract.findings.len();
    match contract.matches {
        ContractMatch::Same if differences == 0 => report.ok(found),
        ContractMatch::Newer | ContractMatch::Unknown => report.note(found),
        _ => report.problem(
            format!("{found}: {differences} differences"),
            "`check_contract()` names them; read the changes, and update the SDK",
        ),
    }
}

/// Adds a finding on the operations that the granted scopes allow.
pub(super) fn scopes(report: &mut Report, app: App, missing: Result<MissingScopes, Error>) {
    let missing = match missing {
        Ok(missing) => missing,
        Err(error) => {
            let found = format!("{app}: the SDK's request: {}", without_a_response(&error));
            let remedy =
                "the doctor got a token, but the SDK didn't; see A05, or run the doctor again";
            return report.failure(found, remedy);
        }
    };
    let Some(granted) = &missing.granted else {
        let found = "the response to the token request doesn't name the granted scopes";
        return report.note(format!("{app}: {found}"));
    };
    let documented = operations(app).iter().filter(|it| !it.scopes.is_empty());
    let (all, granted) = (documented.count(), granted.len());
    let open = all - missing.operations.len();
    let found = format!("{app}: {granted} scopes allow {open} of {all} operations with scopes");
    let lacks = |it: &&Operation| format!("{} needs {}", it.id, it.scopes.join(" or "));
    let lacks: Vec<String> = missing.operations.iter().map(lacks).collect();
    if lacks.is_empty() {
        return report.ok(found);
    }
    let lacks = lacks.join("; ");
    let remedy = format!("ask for the scopes that your service needs: {lacks}");
    report.problem(found, remedy);
}

/// The report prints only known headers, because other names may contain anything.
const RATE_LIMITS: &str = "ratelimit ratelimit-policy ratelimit-limit ratelimit-remaining x-ratelimit-limit \
                           x-ratelimit-remaining x-ratelimit-reset retry-after";
const CACHING: &str = "cache-control etag age expires vary last-modified";
pub(super) const REQUEST_IDS: &str =
    "x-correlation-id correlation-id request-id x-trace-id traceparent";

pub(super) fn headers(report: &mut Report, facts: &Facts) {
    report.step("headers");
    let skews = facts.responses.iter().filter_map(|it| it.skew);
    match skews.max_by_key(|skew| skew.abs()) {
        None => report.note("no response has a Date header, so the clocks can't be compared"),
        Some(skew) if skew.abs() <= 30 => report.ok(format!("the clocks differ by {skew} s")),
        Some(skew) => {
            let remedy = "set this machine's clock (NTP); it measures the age of stored commands";
            report.problem(format!("the clocks differ by {skew} s"), remedy);
        }
    }
    let lists = [
        ("a rate limit", RATE_LIMITS),
        ("caching", CACHING),
        ("a request ID", REQUEST_IDS),
    ];
    for (about, names) in lists {
        let mut counts = counts(facts, names).peekable();
        if counts.peek().is_none() && names != REQUEST_IDS {
            report.ok(format!("no response has a header about {about}"));
        }
        for (name, count) in counts {
            report.note(format!("{about}: {name} on {count} responses"));
        }
    }
    let mut is_ending = false;
    for seen in &facts.responses {
        let headers = &seen.headers;
        if headers.contains_key("deprecation") || headers.contains_key("sunset") {
            let remedy = match seen.label() {
                "exchangeToken" => "ask the operator of the identity provider",
                _ => "plan the change; your service gets a `suite.response.deprecated` event",
            };
            report.problem(
                format!("{} has a Deprecation or Sunset header", seen.label()),
                remedy,
            );
            is_ending = true;
        }
    }
    if !is_ending {
        report.ok("no response announces a deprecation or a sunset");
    }
}

pub(super) fn counts(
    facts: &Facts,
    names: &'static str,
) -> impl Iterator<Item = (&'static str, usize)> {
    let counts = names.split(' ').map(|name| {
        let with = facts.responses.iter();
        (
            name,
            with.filter(|it| it.headers.contains_key(name)).count(),
        )
    });
    counts.filter(|(_, count)| *count > 0)
}

/// Returns the reason why there is no response. A token endpoint's message is omitted, because it may contain anything.
pub(super) fn without_a_response(error: &Error) -> String {
    let cause = std::error::Error::source(error);
    match cause.and_then(|cause| cause.downcast_ref::<TokenError>()) {
        None if error.kind() == ErrorKind::TokenUnavailable => "no token".to_owned(),
        None => error.to_string(),
        Some(token) => {
            let status = token.status().map(|status| format!(" ({status})"));
            let status = status.unwrap_or_default();
            format!("no token: {}{status}", token.kind().as_str())
        }
    }
}
