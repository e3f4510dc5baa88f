//! Keeps confidential values out of printed messages.
//!
//! Only messages for people are redacted. Data for programs, such as bodies, headers and fields, stays unchanged.
//!
//! - **Values:** `Call::redactor` in `call/mod.rs` collects them from everything with an `add_secrets_to` method: the
//!   suite's recent credentials and tokens, the headers and query values of client and call, and the request's form.
//!   For token requests, `token/exchange.rs` collects them.
//! - **Encodings:** `patterns.rs` cuts a secret into pieces. A single automaton searches for each piece unencoded, in
//!   base64 and in hexadecimal digits. It searches each message unchanged, and also without the escapes of URLs, forms,
//!   JSON and HTML.
//! - **Redaction:** `Error::redacted` and `Redactor::line` redact messages wherever the SDK quotes a server.

mod patterns;
pub(crate) mod redactor;
pub(crate) mod value;
