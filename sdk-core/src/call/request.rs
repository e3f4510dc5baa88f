//! Makes the request of one attempt from the draft of a call.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};

use crate::call::Call;
use crate::command::key::IdempotencyKey;
use crate::error::Error;
use crate::options::IDEMPOTENCY_KEY;
use crate::request::draft::Draft;
use crate::token::bearer::BearerToken;
use crate::transport::request_body::Outgoing;

/// The request of one attempt, with its headers.
pub(super) fn build_request(
    call: &Call,
    draft: &Draft,
    bearer: Option<&BearerToken>,
) -> Result<Outgoing, Error> {
    let mut request = request_of(draft, call.operation.media_type);
    let headers = &mut request.headers;
    if call.stored.is_none() {
        call.client.defaults().apply_headers(headers);
    }
    call.options.apply_headers(headers);
    headers.insert(ACCEPT, header_of(call.operation.accept));
    headers.insert(USER_AGENT, HeaderValue::clone(&call.client.suite().agent));
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, bearer.header().clone());
    }
    if let Some(key) = &call.options.key {
        headers.insert(IDEMPOTENCY_KEY, key_header(key)?);
    }
    Ok(request)
}

/// A media type, which is JSON if none is named.
fn header_of(media_type: Option<&'static str>) -> HeaderValue {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    media_type.map_or(JSON, HeaderValue::from_static)
}

/// A request with the method, URL and body of a draft. The body is shared.
fn request_of(draft: &Draft, media_type: Option<&'static str>) -> Outgoing {
    const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
    // With those that the HTTP client adds, such as the host and the length.
    let mut headers = HeaderMap::with_capacity(12);
    if draft.body.is_some() {
        let form = draft.is_form.then_some(FORM);
        headers.insert(CONTENT_TYPE, form.unwrap_or_else(|| header_of(media_type)));
    }
    Outgoing {
        method: draft.method.to_http(),
        url: draft.url.clone(),
        headers,
        body: draft.body.clone(),
    }
}

/// The key as a header that does not print and shares the memory of the key.
fn key_header(key: &Arc<IdempotencyKey>) -> Result<HeaderValue, Error> {
    struct Shared(Arc<IdempotencyKey>);

    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            self.0.as_str().as_bytes()
        }
    }

    let bytes = Bytes::from_owner(Shared(Arc::clone(key)));
    let mut value = HeaderValue::from_maybe_shared(bytes).map_err(|error| {
        Error::invalid("Idempotency-Key", "be a header value", "other characters").with_cause(error)
    })?;
    value.set_sensitive(true);
    Ok(value)
}
