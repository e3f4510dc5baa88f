//! Findings on the headers of all responses.

use super::facts::Facts;
use super::report::Report;

/// Only known headers are printed: another name may be anything.
const RATE_LIMITS: &str = "ratelimit ratelimit-policy ratelimit-limit ratelimit-remaining x-ratelimit-limit \
                           x-ratelimit-remaining x-ratelimit-reset retry-after";
const CACHING: &str = "cache-control etag age expires vary last-modified";
pub(super) const REQUEST_IDS: &str =
    "x-correlation-id correlation-id request-id x-trace-id traceparent";

pub(super) fn find(report: &mut Report, facts: &Facts) {
    report.step("headers");
    let skews = facts.responses.iter().filter_map(|it| it.skew);
    match skews.max_by_key(|skew| skew.abs()) {
        None => report.note("no response has a Date: the clocks cannot be compared"),
        Some(skew) if skew.abs() <= 30 => report.ok(format!("the clocks differ by {skew} s")),
        Some(skew) => {
            let remedy = "set this machine's clock (NTP); the ages of stored commands go by it";
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
            report.ok(format!("no response says anything about {about}"));
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
                _ => "plan the change; the event `suite.reply.deprecated` warns a service",
            };
            report.problem(format!("{} announces its end", seen.label()), remedy);
            is_ending = true;
        }
    }
    if !is_ending {
        report.ok("no response announces a deprecation or a sunset");
    }
}

/// The headers that came, with the number of responses.
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
