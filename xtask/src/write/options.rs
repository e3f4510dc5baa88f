//! What every request builder has: the options of a call, and `.await`.

use crate::model::Operation;

/// The options of every call.
const CALL: &str = "
/// Limits each attempt, from the first byte sent to the last byte read.
pub fn timeout(self, timeout: std::time::Duration) -> Self {
    self.with(|options| options.with_timeout(timeout))
}

/// Limits the whole call: token, attempts and waits.
pub fn deadline(self, deadline: std::time::Duration) -> Self {
    self.with(|options| options.with_deadline(deadline))
}

/// Sets how the call is retried.
pub fn retry(self, policy: RetryPolicy) -> Self {
    self.with(|options| options.with_retry(policy))
}

/// Sets what happens to a reply with an unexpected `schemaVersion`.
pub fn schema_policy(self, policy: SchemaPolicy) -> Self {
    self.with(|options| options.with_schema_policy(policy))
}

/// Adds a header. One that the SDK sets itself fails the call before it is sent.
pub fn header(self, name: &str, value: &str) -> Self {
    self.with(|options| options.with_header(name, value))
}

/// Adds a query parameter that this version does not know yet; its value is not checked. A parameter that the
/// call already has fails it before it is sent. A name that is added twice here is sent twice.
pub fn query(self, name: impl Into<String>, value: impl Into<String>) -> Self {
    self.with(|options| options.with_query(name, value))
}

/// Sends the call without a token, for a service that needs none, such as a readiness probe.
pub fn without_token(self) -> Self {
    self.with(CallOptions::without_token)
}
";

/// The options of a command without a documented key.
const COMMAND: &str = "
/// Sets whether this command may be retried after an ambiguous failure; see
/// [`ExactReplay`](sdk_core::ExactReplay).
pub fn exact_replay(self, replay: ExactReplay) -> Self {
    self.with(|options| options.with_exact_replay(replay))
}

/// Sends an `Idempotency-Key` although the contract shows none, if you know that the service takes one. The
/// command may then be retried, unless `exact_replay` forbids it. A malformed key fails the call before it
/// is sent.
pub fn idempotency_key(self, key: impl IntoKey) -> Self {
    self.with(|options| options.with_idempotency_key(key))
}
";

/// The option of a command with a documented key.
const KEYED: &str = "
/// Sets the `Idempotency-Key`. Without it the command gets a random key, which every attempt reuses and the
/// receipt returns. A malformed key fails the call before it is sent.
pub fn idempotency_key(self, key: impl IntoKey) -> Self {
    self.with(|options| options.with_idempotency_key(key))
}
";

const WITH: &str = "
fn with(mut self, change: impl FnOnce(CallOptions) -> CallOptions) -> Self {
    self.call.change(change);
    self
}
";

/// The setters of an operation's builder.
pub(super) fn setters(operation: &Operation) -> String {
    let own = match (operation.is_command(), operation.keyed) {
        (true, true) => KEYED,
        (true, false) => COMMAND,
        (false, _) => "",
    };
    [CALL, own, WITH].concat()
}

/// What makes `.await` send a builder.
pub(super) fn future(builder: &str, output: &str) -> String {
    format!(
        "impl IntoFuture for {builder} {{\n\
         type Output = Result<{output}, Error>;\n\
         type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Self::Output> + Send>>;\n\n\
         fn into_future(self) -> Self::IntoFuture {{\nBox::pin(self.sending())\n}}\n}}\n\n"
    )
}
