//! What must never be printed, and how it is kept out of printed texts.
//!
//! Only texts for people pass through here. What programs read, such as bodies, headers and fields, stays unchanged.
//!
//! - **Which values:** `Call::redactor` in `call/mod.rs` collects them, from everything that has a method `add_secrets_to`:
//!   the suite's recent credentials and tokens, the headers and query values of client and call, and the request's form.
//!   The token exchange does so in `token/exchange.rs`.
//! - **In which encodings:** `patterns.rs` cuts a secret into pieces, and searches for each piece as it is, in base64 and in
//!   hexadecimal digits, with one automaton. It searches a text as it is, and without the escapes of URLs, forms, JSON and HTML.
//! - **Where they are redacted:** `Error::redacted` and `Redactor::line` in the places that quote a server.

mod patterns;
pub(crate) mod redactor;
pub(crate) mod value;
