use std::error::Error as StdError;
use std::fmt;

use bytes::Bytes;
use serde::Serialize;

use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::json::record::JsonBody;
use crate::operation::Operation;
use crate::request::check::{Check, Validate};
use crate::request::form;

/// The initial capacity, enough for a typical command without reallocation.
const USUAL_COMMAND: usize = 512;

/// A serialized request body, or the error that prevented it. `Debug` never prints its content.
#[derive(Clone)]
pub struct Body(Result<Bytes, Error>);

impl Body {
    /// Checks a value against the contract and serializes it as JSON.
    pub fn json<T: Serialize + Validate + ?Sized>(
        operation: &'static Operation,
        value: &T,
    ) -> Self {
        Self::checked(operation, value, |value| {
            let mut json = Vec::with_capacity(USUAL_COMMAND);
            serde_json::to_writer(&mut json, value)?;
            Ok(Bytes::from(json))
        })
    }

    /// Checks that a list has `min` to `max` items and follows the contract, and serializes it as JSON.
    pub fn list<T: Serialize + Validate>(
        operation: &'static Operation,
        values: &[T],
        min: usize,
        max: usize,
    ) -> Self {
        match Check::new(operation).items("body", values.len(), min, max) {
            Ok(()) => Self::json(operation, values),
            Err(error) => Self(Err(error)),
        }
    }

    /// Checks a value against the contract and serializes it as a form.
    pub fn form<T: Serialize + Validate>(operation: &'static Operation, value: &T) -> Self {
        Self::checked(operation, value, form::encode)
    }

    /// Accepts JSON whose schema is undocumented.
    #[must_use]
    pub fn raw(value: &JsonBody) -> Self {
        Self(Ok(Bytes::copy_from_slice(value.as_str().as_bytes())))
    }

    fn checked<T: Validate + ?Sized>(
        operation: &'static Operation,
        value: &T,
        write: impl FnOnce(&T) -> Result<Bytes, Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        let unwritable = |error: Box<dyn StdError + Send + Sync>| {
            let message = format!("cannot write the body: {error}");
            let invalid = Error::new(ErrorKind::InvalidInput, Effect::NotSent, message);
            invalid.with_cause(error).with_operation(operation)
        };
        let checked = value.validate(&Check::new(operation));
        Self(checked.and_then(|()| write(value).map_err(unwritable)))
    }

    /// Returns the bytes to send.
    ///
    /// # Errors
    /// If the value is invalid or could not be serialized.
    pub fn bytes(&self) -> Result<Bytes, Error> {
        self.0.clone()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(body) => write!(f, "Body({} bytes)", body.len()),
            Err(_) => f.write_str("Body(rejected)"),
        }
    }
}
