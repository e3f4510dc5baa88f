//! Observability: the events of an [`Observer`](crate::Observer), and spans and events of `tracing`. Nothing in this
//! module affects a call.
//!
//! [`SuiteBuilder::observer`](crate::SuiteBuilder::observer) adds an observer. The SDK notifies it of attempts,
//! waits, retries, token renewals and every call, including a call that fails before anything is sent and a call that
//! its caller drops. The `sdk-opentelemetry` crate has an observer for metrics.
//!
//! # Times
//! A call begins when its future is first polled. It ends with its result, or when it is dropped. An attempt begins
//! when its request is built and ends with the last byte of the response, before decoding. The span of an attempt ends
//! later.
//!
//! # `error.type`
//! The value is the status of a response other than 2xx (`503`), or else one of these names. A cancelled call or
//! attempt has no `error.type`, because it did not fail.
//!
//! | of calls and attempts | of token renewals and requests |
//! |---|---|
//! | `configuration` | `token_unreachable` |
//! | `invalid_input` | `token_timeout` |
//! | `token_unavailable` | `token_refused` |
//! | `unauthenticated` | `token_unavailable` |
//! | `forbidden` | `token_malformed` |
//! | `rejected` | `token_expired` |
//! | `not_found` | `token_source` |
//! | `conflict` | `token_lost` |
//! | `rate_limited` | |
//! | `unavailable` | |
//! | `unexpected_status` | |
//! | `connect` | |
//! | `transport` | |
//! | `timeout` | |
//! | `decode` | |
//! | `schema_version` | |
//! | `pagination` | |
//! | `prepared_command` | |
//! | `value` | |
//!
//! Errors of lists (`pagination`) and of the caller's own types (`value`) occur after the call has succeeded, so
//! observers receive no error.
//!
//! [`ErrorKind`](crate::ErrorKind) and [`TokenErrorKind`](crate::TokenErrorKind) explain these names.
//!
//! # Spans and events
//! The spans are `suite.call`, `suite.attempt` and `suite.token` (a renewal). Their attributes follow OpenTelemetry's
//! conventions for HTTP clients, so an exporter needs no mapping. `url.full` has no query. All durations in events are
//! in seconds. Headers, bodies, queries and keys are never recorded.
//!
//! A renewal is a separate trace, because many calls may wait for it. Its span follows from the call that started the
//! renewal, which exporters show as a link.
//!
//! | event | level | when |
//! |---|---|---|
//! | `suite.call.retry` | debug | an attempt failed, and the call is retried |
//! | `suite.call.retry_denied` | debug | a retry was allowed, but there were no attempts, time or budget left |
//! | `suite.call.turn` | debug | an attempt waited for a permit, because others were in flight |
//! | `suite.response.types` | warn | fields have unexpected types and are preserved in `extra` |
//! | `suite.response.schema_version` | warn | an unexpected schema version was tolerated |
//! | `suite.response.constant` | warn | an unexpected value of a constant was tolerated |
//! | `suite.response.deprecated` | warn | a response announced the end of its operation with a `Deprecation` or `Sunset` header; once per operation and suite |
//! | `suite.token.renewed` | debug | a renewal delivered a new token |
//! | `suite.token.renewal_failed` | warn | a renewal failed |
//! | `suite.token.exchange_retry` | debug | a token request failed and is retried |
//! | `suite.observer.header_dropped` | warn | an observer added a header that is not allowed |
//! | `suite.observer.panic` | error | an observer panicked |

pub(crate) mod active;
pub(crate) mod events;
pub(crate) mod observer;
pub(crate) mod observers;
pub(crate) mod spans;

pub use events::{
    AttemptEnded, CallEnded, Denial, ObservedAttempt, ObservedCall, Outcome, Renewal, Retry,
    RetryDenied, Wait, WaitReason,
};
pub use observer::ExtraHeaders;
