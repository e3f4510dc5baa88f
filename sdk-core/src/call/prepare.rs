//! Requests that are not sent now: where one would go, and a command in a form that can be stored.

use std::time::SystemTime;

use crate::call::Call;
use crate::command::prepared::{Parts, PreparedCommand, Terms};
use crate::error::Error;
use crate::operation::Replay;
use crate::options::ExactReplay;
use crate::request::draft::Draft;

impl Call {
    /// The path and query that a request goes to, those of the options included: relative to the base URL, which may be
    /// another one in another process.
    ///
    /// # Errors
    /// When a parameter breaks a rule of the contract.
    pub(crate) fn target(&self, draft: Result<Draft, Error>) -> Result<String, Error> {
        let mut draft = draft.map_err(|error| error.of(self.operation))?;
        self.decorate(&mut draft)?;
        Ok(self.relative(&draft).to_owned())
    }

    fn relative<'a>(&self, draft: &'a Draft) -> &'a str {
        let base = self.client.endpoint().base();
        let path = draft.url.as_str().strip_prefix(base);
        path.unwrap_or_else(|| draft.url.path())
    }

    /// The command as it goes out since `at`, headers of the client included: a replay sends the same, whatever the client's
    /// defaults have become. Whether it was `sent` stands in it, and nothing else changes in one that was stored.
    pub(super) fn prepared_from(
        &self,
        request: &Draft,
        at: SystemTime,
        sent: bool,
    ) -> Result<PreparedCommand, Error> {
        if let Some(stored) = &self.stored {
            let stored = (**stored).clone();
            return Ok(if sent { stored.into_sent() } else { stored });
        }
        // It holds the client's secret, and would be replayed as JSON.
        if request.is_form {
            let message = "a form cannot be prepared";
            return Err(Error::prepared(message).of(self.operation));
        }
        let path = self.relative(request);
        let mut headers = self.client.defaults().headers();
        headers.extend(self.options.headers());
        let body = std::str::from_utf8(request.body.as_deref().unwrap_or_default());
        let body = body.map_err(|error| {
            Error::prepared("the body is not UTF-8 text")
                .of(self.operation)
                .with_cause(error)
        })?;
        Ok(PreparedCommand::new(Parts {
            application: self.operation.application.name(),
            operation: self.operation.id,
            method: request.method.as_str(),
            audience: self.client.audience(),
            path,
            key: self.options.key.clone(),
            headers,
            body,
            at,
            terms: Terms {
                sent,
                replay_shown: self.operation.replay != Replay::NotShown,
                without_token: !self.is_authenticated() && self.operation.authenticated,
                replay_exact: self
                    .options
                    .exact_replay
                    .map(|replay| replay == ExactReplay::Allowed),
            },
        }))
    }
}
