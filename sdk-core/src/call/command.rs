//! What only commands have: a key that stands for one body, and a form that can be stored.

use super::Call;
use crate::error::{Error, ErrorKind};
use crate::ledger::{Claim, KeyUse};
use crate::prepared::{Parts, PreparedCommand};
use crate::runtime::Draft;

impl Call {
    /// Takes the key for this body, unless this process sent it with another one.
    pub(super) fn claim_key(&self, request: &Draft) -> Result<Option<Claim<'_>>, Error> {
        match self.key_use(request) {
            Some(using) => self
                .client
                .suite()
                .keys
                .claim(using)
                .map_err(|_reused| self.key_reused()),
            None => Ok(None),
        }
    }

    /// Whether the key is free for this body, as far as this process knows.
    pub(super) fn check_key(&self, request: &Draft) -> Result<(), Error> {
        match self.key_use(request) {
            Some(using) if self.client.suite().keys.contradicts(using) => Err(self.key_reused()),
            _ => Ok(()),
        }
    }

    fn key_use<'a>(&'a self, request: &'a Draft) -> Option<KeyUse<'a>> {
        Some(KeyUse {
            application: self.operation.application,
            path: request.url.path(),
            key: self.options.key.as_deref()?,
            body: request.body.as_deref()?,
        })
    }

    fn key_reused(&self) -> Error {
        let message = "this process sent another body with it before; nothing was sent";
        Error::new(ErrorKind::KeyReused, message)
            .of(self.operation)
            .hint("another command takes another key")
            .with_key(self.options.key.clone())
    }

    pub(super) fn prepared_from(&self, request: &Draft) -> Result<PreparedCommand, Error> {
        // It holds the client's secret, and would be replayed as JSON.
        if request.is_form {
            let message = "a form is no command";
            return Err(Error::new(ErrorKind::PreparedCommand, message).of(self.operation));
        }
        let base = self.client.endpoint().base();
        let path = request
            .url
            .as_str()
            .strip_prefix(base)
            .unwrap_or_else(|| request.url.path());
        PreparedCommand::new(Parts {
            application: self.operation.application,
            operation: self.operation.id,
            method: request.method.as_str(),
            audience: self.client.audience(),
            path,
            key: self.options.key.clone(),
            headers: self.options.headers(),
            body: request.body.as_deref().unwrap_or_default(),
        })
        .map_err(|error| error.of(self.operation))
    }
}
