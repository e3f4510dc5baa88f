//! Headers that observers add.

use http::HeaderMap;

use crate::error::Error;
use crate::options::headers::parse;

/// Collects the extra headers of an attempt.
///
/// It takes the headers that a caller may set on a call, except conditions and ranges, which would change its reply. It does
/// not take the headers of the SDK, such as `Authorization` and `Idempotency-Key`, nor one that the request already has: from
/// the caller, from a stored command, or from an earlier observer. What it does not take is left out, with a warning event, or
/// with none if the request has it already.
///
/// Prepared commands never contain these headers, so every attempt gets its own, also when a stored command is sent again.
/// Their values are not kept out of errors and events if a server repeats them: put no secret into one.
#[derive(Debug)]
pub struct ExtraHeaders<'a> {
    headers: &'a mut HeaderMap,
    count: usize,
}

impl<'a> ExtraHeaders<'a> {
    pub(super) fn new(headers: &'a mut HeaderMap) -> Self {
        Self { headers, count: 0 }
    }

    /// Adds a header.
    pub fn add(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        let parsed = if name == "range" || name.starts_with("if-") {
            Err(Error::invalid(
                &format!("header {name}"),
                "not come from an observer, because it changes the reply",
                "one",
            ))
        } else {
            parse(&name, value, self.count)
        };
        match parsed {
            Ok((name, value)) => {
                if let http::header::Entry::Vacant(entry) = self.headers.entry(name) {
                    entry.insert(value);
                    self.count += 1;
                }
            }
            Err(error) => tracing::warn!(
                name: "suite.observer.header_dropped",
                error = %error,
                "an observer's header is left out"
            ),
        }
    }
}
