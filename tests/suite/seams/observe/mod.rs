//! The notifications of observers, the content of spans and events, and the attempt log of a failed call.

mod alerts;
mod metrics;
mod notifications;
mod outbox;
mod spans;

use std::fmt::{Debug, Display};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sdk_core::Observer;
use sdk_core::observe::{
    AttemptEnded, CallEnded, ExtraHeaders, ObservedAttempt, ObservedCall, Renewal, Retry,
    RetryDenied, Wait,
};

use crate::peer::{Peer, Script};
use crate::support::{Clients as _, builder_at};

/// Records each notification as a line.
#[derive(Clone, Default)]
pub(crate) struct Diary {
    /// Each event as a line, and its `Debug` output.
    events: Arc<Mutex<Vec<(String, String)>>>,
    /// A function that runs after each line.
    then: Option<fn()>,
}

impl Diary {
    /// Returns an observer that runs this function at every notification, for instance to panic.
    fn then(then: fn()) -> Self {
        Self {
            then: Some(then),
            ..Self::default()
        }
    }

    fn events(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, event: &dyn Debug, line: String) {
        self.events().push((line, format!("{event:?}")));
        if let Some(then) = self.then {
            then();
        }
    }

    /// Returns the lines so far that begin with one of these words.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        let lines = self.events();
        let mut lines: Vec<_> = lines.iter().map(|(line, _)| line.clone()).collect();
        lines.retain(|line| words.iter().any(|word| line.starts_with(word)));
        lines
    }

    /// Returns [`Self::lines`] as one string.
    fn text(&self, words: &[&str]) -> String {
        self.lines(words).join("\n")
    }

    /// Returns the `Debug` output of each event on its own line.
    fn printed(&self) -> String {
        let events = self.events();
        let events: Vec<_> = events.iter().map(|(_, it)| it.as_str()).collect();
        events.join("\n")
    }

    /// Returns the lines about calls, attempts, retries and renewals.
    pub(crate) fn all(&self) -> Vec<String> {
        self.lines(&[""])
    }
}

/// Joins the present parts, with a space before each part.
fn some<T: Display>(parts: &[Option<T>]) -> String {
    let parts = parts.iter().flatten();
    parts.fold(String::new(), |text, part| format!("{text} {part}"))
}

fn id(call: Option<ObservedCall<'_>>) -> &'static str {
    call.map_or("(exchange)", |call| call.operation.id)
}

impl Observer for Diary {
    fn call_started(&self, call: &ObservedCall<'_>) {
        self.write(call, format!("call {} starts", call.operation.id));
    }

    fn call_ended(&self, ended: &CallEnded<'_>) {
        let details = [
            ended.error_type.map(str::to_owned),
            ended.kind.map(|kind| format!("({})", kind.as_str())),
            ended.effect.map(|effect| effect.to_string()),
            ended.status.map(|status| format!("status {status}")),
            ended.request_id().map(|id| format!("id {id}")),
        ];
        let (outcome, attempts) = (ended.outcome.as_str(), ended.attempts);
        let (call, details) = (ended.call.operation.id, some(&details));
        let line = format!("call {call} {outcome} after {attempts}{details}");
        self.write(&(ended, ended.duration()), line);
    }

    fn attempt_started(&self, attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        let (number, call) = (attempt.number, id(attempt.call));
        let (method, template) = (attempt.method.as_str(), attempt.template);
        let line = format!("attempt {number} of {call} {method} {template}");
        self.write(&(attempt, headers), line);
    }

    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        let details = [
            ended.error_type.map(str::to_owned),
            ended.effect.map(|effect| effect.to_string()),
            ended.status.map(|status| format!("status {status}")),
            ended.protocol_version.map(|it| format!("HTTP/{it}")),
            ended.request_id.map(|id| format!("id {id}")),
        ];
        let (number, call) = (ended.attempt.number, id(ended.attempt.call));
        let (outcome, details) = (ended.outcome.as_str(), some(&details));
        let line = format!("attempt {number} of {call} {outcome}{details}");
        self.write(&(ended, ended.duration()), line);
    }

    fn waited(&self, wait: &Wait<'_>) {
        let call = wait.operation.map_or("(no call)", |it| it.id);
        let (reason, millis) = (wait.reason.as_str(), wait.duration.as_millis());
        let application = wait.application;
        let line = format!("wait {application}.{call} {reason} {millis}");
        self.write(wait, line);
    }

    fn retrying(&self, retry: &Retry<'_>) {
        let (call, attempts) = (retry.call.operation.id, retry.attempts);
        let line = format!("retry {call} after {attempts}: {}", retry.error_type);
        self.write(retry, line);
    }

    fn retry_denied(&self, denied: &RetryDenied<'_>) {
        let (call, reason) = (denied.call.operation.id, denied.reason.as_str());
        let (attempts, error_type) = (denied.attempts, denied.error_type);
        let line = format!("denied {call} after {attempts}: {error_type}, {reason}");
        self.write(denied, line);
    }

    fn token_renewed(&self, renewal: &Renewal<'_>) {
        let application = renewal.application.map(|app| app.name().to_owned());
        let details = some(&[application, renewal.error_type.map(str::to_owned)]);
        self.write(renewal, format!("token{details}"));
    }
}

/// Returns a peer with this script, a client of it, and the diary of its observer.
pub(crate) fn watched(script: impl Into<Script>) -> (Diary, Peer, sdk_crm::Client) {
    let (diary, peer) = (Diary::default(), Peer::start(script));
    let crm = builder_at(&peer.url()).observer(diary.clone()).crm();
    (diary, peer, crm)
}

/// An observer that adds these headers and the attempt number to every attempt.
struct Adds<S>(Vec<(S, &'static str)>);

impl<S: AsRef<str> + Send + Sync + 'static> Observer for Adds<S> {
    fn attempt_started(&self, attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        for (name, value) in &self.0 {
            headers.add(name.as_ref(), value);
        }
        headers.add("x-attempt", &attempt.number.to_string());
    }
}
