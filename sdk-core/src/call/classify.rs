//! Judges an attempt: done, worth another one, or an error.

use bytes::Bytes;
use http::HeaderMap;
use serde::de::IgnoredAny;

use crate::call::attempt::Outcome;
use crate::call::progress::{Progress, Take};
use crate::call::refusal::{of_status, refused};
use crate::call::unreached::{failed, late_body, timed_out};
use crate::call::verdict::{Verdict, fail};
use crate::error::Error;
use crate::error::kind::ErrorKind;
use crate::reply::decode::Unreadable;
use crate::reply::receive::Head;
use crate::reply::response::Reply;
use crate::text::Line;
use crate::transport::reply_body::BodyError;

/// Judges an attempt. `whole_call` says that its time limit was the deadline of the call.
pub(super) fn classify(
    outcome: Outcome,
    whole_call: bool,
    progress: &Progress<'_, '_>,
    take: Take<'_>,
) -> Verdict {
    let (status, headers, body) = match outcome {
        Outcome::Reply {
            status,
            headers,
            body,
            version: _,
        } => (status, headers, body),
        Outcome::Failed(error) => return failed(error, progress),
        Outcome::TimedOut { never_begun } => return timed_out(whole_call, never_begun, progress),
    };
    if !(200..300).contains(&status) {
        // The status decides, even if the body could not be read.
        let body = body.unwrap_or_else(|unread| match unread {
            BodyError::TooLarge(excerpt) => excerpt,
            BodyError::Broken(_) | BodyError::Late | BodyError::Encoded(_) => Bytes::new(),
        });
        return refused(status, &headers, body, progress);
    }
    let error = match body {
        Ok(body) => match take(Head::of(status, &headers), &body, &|text| {
            progress.confidential(b"").line(Line::Message, text)
        }) {
            Ok(mismatch) => {
                return Verdict::Done(Reply {
                    installation: progress.client.label(),
                    operation: progress.operation,
                    status,
                    headers,
                    body,
                    attempts: progress.watch.attempts,
                    key: None,
                    mismatch,
                });
            }
            Err(unreadable) => {
                return unreadable_reply(unreadable, status, &headers, body, progress);
            }
        },
        Err(BodyError::TooLarge(excerpt)) => {
            let limit = progress.limits.max_bytes;
            Error::decode(format!("the reply is larger than {limit} bytes"))
                .with_hint("raise `max_response_bytes` of the suite's builder if that is expected")
                .with(|parts| parts.body = Some(excerpt))
        }
        Err(BodyError::Broken(error)) => Error::new(ErrorKind::Transport, "the reply was cut off")
            .with_cause(error)
            .with(|parts| parts.retryable = true),
        Err(BodyError::Late) => late_body(whole_call, progress),
        Err(BodyError::Encoded(encoding)) => {
            let encoding = progress.confidential(b"").line(Line::Message, &encoding);
            Error::decode(format!(
                "the reply is compressed ({encoding}), and its transport did not decode it"
            ))
        }
    };
    let again = error.is_retryable() && progress.may_replay;
    let error = of_status(error, status, &headers, &progress.confidential(b""));
    fail(error, again)
}

fn unreadable_reply(
    unreadable: Unreadable,
    status: u16,
    headers: &HeaderMap,
    body: Bytes,
    progress: &Progress<'_, '_>,
) -> Verdict {
    // The messages quote the reply.
    let confidential = progress.confidential(&body);
    let shown = |text: &str| confidential.line(Line::Message, text);
    let is_secret = progress.is_secret_reply();
    let (error, again) = match unreadable {
        Unreadable::Truncated(error) => {
            let message = format!("the reply is truncated: {}", shown(&error.to_string()));
            let error = Error::decode(message).with_cause(error);
            (error.with(|parts| parts.retryable = true), true)
        }
        // Anything more specific would quote a confidential reply.
        Unreadable::Malformed(_) if is_secret => {
            let is_json = serde_json::from_slice::<IgnoredAny>(&body).is_ok();
            let message = if is_json {
                "the reply does not match its schema"
            } else {
                "the reply is not JSON"
            };
            (Error::decode(message), false)
        }
        Unreadable::Malformed(message) => {
            let error = Error::decode(shown(&message));
            // JSON of the service may hold personal data; a page of something in between says what that is.
            let is_json = body.is_empty() || serde_json::from_slice::<IgnoredAny>(&body).is_ok();
            let error = if is_json {
                error
            } else {
                let begin = confidential.line(Line::Excerpt, &text_of(&body));
                error.with_hint(format!("the body begins with {begin:?}"))
            };
            (error, false)
        }
        Unreadable::TooMany(most) => {
            let message = format!("the reply has more than {most} elements and members");
            let hint = "raise `max_response_elements` of the suite's builder if that is expected";
            (Error::decode(message).with_hint(hint), false)
        }
        Unreadable::Schema {
            expected,
            found,
            detail,
        } => {
            // `Warn` does not help where decoding fails.
            let hint = if detail.is_some() {
                "it does not decode anyway: update the SDK, or take it as raw JSON with `raw_call`"
            } else {
                "update the SDK, or set `SchemaPolicy::Warn`"
            };
            let detail = detail.filter(|_| !is_secret);
            let detail = detail.map_or_else(String::new, |detail| format!(" ({})", shown(&detail)));
            let found = found.map_or_else(
                || "no schemaVersion".to_owned(),
                |found| format!("schemaVersion {found}"),
            );
            let message =
                format!("the reply has {found}, but this SDK was built for {expected}{detail}");
            let error = Error::new(ErrorKind::SchemaVersion, message).with_hint(hint);
            (error, false)
        }
    };
    let error =
        of_status(error, status, headers, &confidential).with(|parts| parts.body = Some(body));
    fail(error, again && progress.may_replay)
}

/// The beginning of a body, longer than the excerpt that is shown, so that redaction sees whole secrets.
fn text_of(body: &Bytes) -> String {
    String::from_utf8_lossy(&body[..body.len().min(16 * Line::Excerpt.longest())]).into_owned()
}
