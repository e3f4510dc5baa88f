//! From the draft of a call to the request of one attempt.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::Request;

use crate::call::Call;
use crate::command::key::IdempotencyKey;
use crate::error::Error;
use crate::options::IDEMPOTENCY_KEY;
use crate::request::draft::Draft;
use crate::token::bearer::BearerToken;
use crate::transport::begun::Begun;

impl Call {
    /// Checks the options of the client and the call, and adds what of them belongs to all attempts.
    pub(super) fn decorate(&self, draft: &mut Draft) -> Result<(), Error> {
        let all = [self.client.defaults(), &self.options];
        for options in all {
            options.check().map_err(|error| error.of(self.operation))?;
        }
        if self.stored.is_some() {
            return Ok(());
        }
        for options in all {
            options
                .check_query(&draft.url)
                .map_err(|error| error.of(self.operation))?;
        }
        for options in all {
            options.apply_query(&mut draft.url);
        }
        Ok(())
    }

    /// The request of one attempt, with its headers: nothing is made of them that is not sent.
    pub(super) fn outgoing(
        &self,
        draft: &Draft,
        bearer: Option<&BearerToken>,
        begun: Option<&Begun>,
    ) -> Result<Request, Error> {
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        let mut request = request_of(draft, begun);
        let headers = request.headers_mut();
        if self.stored.is_none() {
            self.client.defaults().apply_headers(headers);
        }
        self.options.apply_headers(headers);
        headers.insert(ACCEPT, JSON);
        if let Some(bearer) = bearer {
            headers.insert(AUTHORIZATION, bearer.header().clone());
        }
        if let Some(key) = &self.options.key {
            headers.insert(IDEMPOTENCY_KEY, key_header(key)?);
        }
        Ok(request)
    }
}

/// A request with the method, URL and body of a draft; the body is shared, and watched if `begun` is to tell of it. Only its content
/// type is among the headers.
fn request_of(draft: &Draft, begun: Option<&Begun>) -> Request {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
    let mut request = Request::new(draft.method.to_http(), draft.url.clone());
    if let Some(body) = &draft.body {
        let kind = if draft.is_form { FORM } else { JSON };
        request.headers_mut().insert(CONTENT_TYPE, kind);
        let body = body.clone();
        *request.body_mut() = Some(match begun {
            Some(begun) => begun.body(body),
            None => body.into(),
        });
    }
    request
}

/// The key as a header that does not print, over the memory that the key has already.
fn key_header(key: &Arc<IdempotencyKey>) -> Result<HeaderValue, Error> {
    struct Shared(Arc<IdempotencyKey>);

    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            self.0.as_str().as_bytes()
        }
    }

    let bytes = Bytes::from_owner(Shared(Arc::clone(key)));
    let mut value = HeaderValue::from_maybe_shared(bytes).map_err(|error| {
        Error::invalid("Idempotency-Key", "be a header value", "another text").with_cause(error)
    })?;
    value.set_sensitive(true);
    Ok(value)
}
