//! What observers are told, what spans and events say, and what the attempts of a failed call were.

mod attempts;
mod metrics;
mod spans;
mod told;

use std::sync::{Arc, Mutex, PoisonError};

use sdk_core::Observer;
use sdk_core::observe::{
    AttemptEnded, CallEnded, ExtraHeaders, ObservedAttempt, ObservedCall, Renewal, Retry,
    RetryDenied, Wait,
};

use crate::peer::{Peer, Script};
use crate::support::{Clients as _, builder_at};

/// Writes down what it is told, a line for each event.
#[derive(Clone, Default)]
pub(crate) struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn write(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line);
    }

    /// The lines so far that begin with one of these words.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = lines.clone();
        lines.retain(|line| words.iter().any(|word| line.starts_with(word)));
        lines
    }

    /// The lines about calls, attempts, retries and renewals.
    pub(crate) fn all(&self) -> Vec<String> {
        self.lines(&["call", "attempt", "retry", "denied", "token", "wait"])
    }
}

/// What there is, each after a blank.
fn some<T: std::fmt::Display>(parts: &[Option<T>]) -> String {
    let parts = parts.iter().flatten();
    parts.fold(String::new(), |text, part| format!("{text} {part}"))
}

fn id(call: Option<ObservedCall<'_>>) -> &'static str {
    call.map_or("(exchange)", |call| call.operation.id)
}

impl Observer for Diary {
    fn call_started(&self, call: &ObservedCall<'_>) {
        self.write(format!("call {} starts", call.operation.id));
    }

    fn call_ended(&self, ended: &CallEnded<'_>) {
        let told = [
            ended.error_type.map(str::to_owned),
            ended.kind.map(|kind| format!("({})", kind.as_str())),
            ended.effect.map(|effect| effect.to_string()),
            ended.status.map(|status| format!("status {status}")),
            ended.request_id().map(|id| format!("id {id}")),
            ended.replayed().then(|| "replayed".to_owned()),
            ended.schema_mismatch.then(|| "mismatch".to_owned()),
        ];
        let (outcome, attempts) = (ended.outcome.as_str(), ended.attempts);
        let told = some(&told);
        let call = ended.call.operation.id;
        self.write(format!("call {call} {outcome} after {attempts}{told}"));
    }

    fn attempt_started(&self, attempt: &ObservedAttempt<'_>, _: &mut ExtraHeaders<'_>) {
        let (number, call) = (attempt.number, id(attempt.call));
        let (method, template) = (attempt.method.as_str(), attempt.template);
        self.write(format!("attempt {number} of {call} {method} {template}"));
    }

    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        let told = [
            ended.error_type.map(str::to_owned),
            ended.effect.map(|effect| effect.to_string()),
            ended.status.map(|status| format!("status {status}")),
            ended.protocol_version.map(|it| format!("HTTP/{it}")),
            ended.request_id.map(|id| format!("id {id}")),
        ];
        let attempt = ended.attempt;
        let (number, call) = (attempt.number, id(attempt.call));
        let (outcome, told) = (ended.outcome.as_str(), some(&told));
        self.write(format!("attempt {number} of {call} {outcome}{told}"));
    }

    fn waited(&self, wait: &Wait<'_>) {
        let call = wait.operation.map_or("(no call)", |it| it.id);
        let (reason, millis) = (wait.reason.as_str(), wait.duration.as_millis());
        let application = wait.application;
        self.write(format!("wait {application}.{call} {reason} {millis}"));
    }

    fn retrying(&self, retry: &Retry<'_>) {
        let (call, attempts) = (retry.call.operation.id, retry.attempts);
        let error_type = retry.error_type;
        self.write(format!("retry {call} after {attempts}: {error_type}"));
    }

    fn retry_denied(&self, denied: &RetryDenied<'_>) {
        let (call, reason) = (denied.call.operation.id, denied.reason.as_str());
        let (attempts, error_type) = (denied.attempts, denied.error_type);
        self.write(format!(
            "denied {call} after {attempts}: {error_type}, {reason}"
        ));
    }

    fn token_renewed(&self, renewal: &Renewal<'_>) {
        let application = renewal.application.map(|app| app.name().to_owned());
        let told = some(&[application, renewal.error_type.map(str::to_owned)]);
        self.write(format!("token{told}"));
    }
}

/// A peer with this script, a client of it, and what that tells.
pub(crate) fn watched(script: impl Into<Script>) -> (Diary, Peer, sdk_crm::Client) {
    let (diary, peer) = (Diary::default(), Peer::start(script));
    let crm = builder_at(&peer.url()).observer(diary.clone()).crm();
    (diary, peer, crm)
}

/// Panics whenever it is told anything.
pub(crate) struct Panics;

macro_rules! panics {
    ($($event:ident: $($told:ty),+;)+) => {
        impl Observer for Panics {$(
            fn $event(&self, $(_: $told),+) {
                panic!("{}", stringify!($event));
            }
        )+}
    };
}

panics! {
    call_started: &ObservedCall<'_>;
    call_ended: &CallEnded<'_>;
    attempt_started: &ObservedAttempt<'_>, &mut ExtraHeaders<'_>;
    attempt_ended: &AttemptEnded<'_>;
    waited: &Wait<'_>;
    retrying: &Retry<'_>;
    retry_denied: &RetryDenied<'_>;
    token_renewed: &Renewal<'_>;
}
