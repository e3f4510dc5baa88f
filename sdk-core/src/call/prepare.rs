//! Requests that are not sent now: where one would go, and commands in a form that can be stored.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::call::Call;
use crate::command::prepared::{CommandFlags, PreparedCommand, VERSION};
use crate::error::Error;
use crate::operation::Replay;
use crate::options::ExactReplay;
use crate::request::draft::Draft;

impl Call {
    /// The path and query of a request, with the query of the options, relative to the base URL, which may differ in another
    /// process.
    pub(crate) fn target(&self, draft: Result<Draft, Error>) -> Result<String, Error> {
        let target = draft.and_then(|mut draft| {
            self.decorate(&mut draft)?;
            Ok(self.relative(&draft).to_owned())
        });
        target.map_err(|error| self.failed(error))
    }

    fn relative<'a>(&self, draft: &'a Draft) -> &'a str {
        let base = self.client.endpoint().base();
        let path = draft.url.as_str().strip_prefix(base);
        path.unwrap_or_else(|| draft.url.path())
    }

    /// The command as prepared or first sent `at` a time, with the headers of the client, so that a replay does not depend on
    /// the client's defaults. In a stored command only `sent` can change.
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
        // A form holds the client's secret, and would be replayed as JSON.
        if request.is_form {
            let message = "a call with a form body cannot be prepared: send it directly";
            return Err(Error::prepared(message).with_operation(self.operation));
        }
        let mut headers = self.client.defaults().headers();
        headers.extend(self.options.headers());
        let body = std::str::from_utf8(request.body.as_deref().unwrap_or_default());
        let body = body.map_err(|error| {
            Error::prepared("the body is not UTF-8")
                .with_operation(self.operation)
                .with_cause(error)
        })?;
        let since = at.duration_since(UNIX_EPOCH).ok();
        let command = PreparedCommand {
            version: VERSION,
            application: self.operation.application.name().to_owned(),
            operation: self.operation.id.to_owned(),
            method: request.method.as_str().to_owned(),
            audience: self.client.audience().map(str::to_owned),
            path: self.relative(request).to_owned(),
            idempotency_key: self.options.key.clone(),
            headers,
            body: body.to_owned(),
            prepared_at: since.and_then(|since| u64::try_from(since.as_millis()).ok()),
            flags: CommandFlags {
                sent,
                replay_shown: self.operation.replay != Replay::NotShown,
                without_token: !self.is_authenticated() && self.operation.authenticated,
                replay_exact: self
                    .options
                    .exact_replay
                    .map(|replay| replay == ExactReplay::Allowed),
            },
            digest: String::new(),
        };
        Ok(command.digested())
    }
}
