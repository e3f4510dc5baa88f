//! Sends stored commands exactly as they were prepared.
//!
//! The stored command is defined in `command`. The `sdk-outbox` crate decides whether and when to send it.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::de::IgnoredAny;
use url::{Url, form_urlencoded};

use crate::app::App;
use crate::call::Call;
use crate::client::ApiClient;
use crate::command::prepared::{CommandFlags, PreparedCommand, VERSION};
use crate::error::Error;
use crate::json::raw::RawJson;
use crate::macros::debug_fields;
use crate::operation::RAW;
use crate::operation::{Method, Operation, Safety};
use crate::options::{CallOptions, ExactReplay, SchemaPolicy};
use crate::policy::retry::RetryPolicy;
use crate::reply::decode::FromResponse;
use crate::reply::response::Receipt;
use crate::request::check::is_segment;
use crate::request::draft::Draft;

/// A prepared command that is about to be sent. A client's `send_prepared` creates it, and `.await` sends it.
///
/// The command itself doesn't change. You can set time limits and retries.
///
/// If the command [was sent](PreparedCommand::was_sent) before, errors have [`Effect::Unknown`](crate::Effect) until a
/// response confirms the command, because a rejection or a missing token says nothing about the earlier attempt. Don't
/// resend forever. Stop if the error's [`kind`](crate::Error::kind) is `Rejected`, `NotFound` or `Conflict`, because
/// the server won't change its answer.
///
/// ```no_run
/// # async fn example(client: &sdk_core::codegen::ApiClient, command: &sdk_core::PreparedCommand) -> Result<(), sdk_core::Error> {
/// # use std::time::Duration;
/// # use sdk_core::{RawJson, SendPrepared};
/// # let calendar = Client(client.clone());
/// # struct Client(sdk_core::codegen::ApiClient);
/// # impl Client { fn send_prepared(&self, command: &sdk_core::PreparedCommand) -> SendPrepared { SendPrepared::new(&self.0, command) } }
/// let receipt = calendar.send_prepared(command).deadline(Duration::from_secs(120)).await?;
/// if receipt.is_replay() == Some(true) {
///     println!("it was already committed: {receipt:?}");
/// }
/// # Ok(()) }
/// ```
#[must_use = "a request does nothing until it is sent: add `.await`"]
pub struct SendPrepared<T = RawJson> {
    call: Call,
    draft: Result<Draft, Error>,
    /// Whether this is a raw call by path that isn't allowed yet.
    raw_not_allowed: bool,
    result: PhantomData<fn() -> T>,
}

impl SendPrepared {
    /// Checks a command against the client that will send it. If they don't match, the call fails when it is sent.
    pub fn new(client: &ApiClient, command: &PreparedCommand) -> Self {
        let (call, draft) = match request_of(client, command) {
            Ok((operation, draft)) => (call_of(client, operation, command), Ok(draft)),
            Err(error) => {
                let application = client.application();
                let known = application.operation(command.operation());
                let operation = known.unwrap_or(&application.raw.command);
                (Call::new(client, operation), Err(error))
            }
        };
        Self {
            call,
            draft,
            raw_not_allowed: command.operation() == RAW,
            result: PhantomData,
        }
    }

    /// Decodes and checks the result as one of the client's types: `typed::<CalendarCommandResult>()`.
    ///
    /// Without it, the result is raw JSON, which you can decode into your own type with [`RawJson::decode`]. If the
    /// operation succeeds with a body that isn't JSON, the result is null and [`Receipt::bytes`] returns the body.
    pub fn typed<T: FromResponse>(self) -> SendPrepared<T> {
        SendPrepared {
            call: self.call,
            draft: self.draft,
            raw_not_allowed: self.raw_not_allowed,
            result: PhantomData,
        }
    }
}

impl<T: FromResponse> SendPrepared<T> {
    /// Limits each attempt, from the first byte sent to the last byte read.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.with_timeout(timeout))
    }

    /// Limits the entire call, including the token, all attempts and delays.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|options| options.with_deadline(deadline))
    }

    /// Sets the retry policy.
    pub fn retry(self, policy: RetryPolicy) -> Self {
        self.with(|options| options.with_retry(policy))
    }

    /// Sets the reaction to a response with an unexpected `schemaVersion`.
    pub fn schema_policy(self, policy: SchemaPolicy) -> Self {
        self.with(|options| options.with_schema_policy(policy))
    }

    /// Sets whether this command may be retried after a failure with an unknown effect. See [`ExactReplay`].
    pub fn exact_replay(self, replay: ExactReplay) -> Self {
        self.with(|options| options.with_exact_replay(replay))
    }

    /// Adds a header to the command's headers, for example for tracing.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(stored) = &self.call.stored
            && stored
                .headers()
                .any(|(own, _)| own.eq_ignore_ascii_case(name))
        {
            let found = "it in the command and on the call";
            self.reject(Error::invalid(
                &format!("header {name}"),
                "not be set twice",
                found,
            ));
        }
        self.with(|options| options.with_header(name, value))
    }

    /// Allows a command that was prepared by a raw call to a path. Such a command can be any request to the
    /// application. Allow it only where you expect such commands.
    pub fn allow_raw_path(mut self) -> Self {
        self.raw_not_allowed = false;
        self
    }

    /// Sends the command.
    ///
    /// # Errors
    /// If the command was changed after it was prepared, belongs to another client, or fails like any other call.
    pub async fn send(self) -> Result<Receipt<T>, Error> {
        let message = "it is a raw call by path, which needs `allow_raw_path`";
        let draft = self.draft.and_then(|draft| {
            let rejected = self.raw_not_allowed.then(|| Error::prepared(message));
            rejected.map_or(Ok(draft), Err)
        });
        self.call.command(draft).await
    }

    fn with(mut self, change: impl FnOnce(CallOptions) -> CallOptions) -> Self {
        self.call.change(change);
        self
    }

    /// Makes the call fail. Only the first error counts.
    fn reject(&mut self, error: Error) {
        if self.draft.is_ok() {
            self.draft = Err(error);
        }
    }
}

/// A client of any application, for code that sends stored commands of several applications, such as a worker.
///
/// Every client implements it. Implement it yourself to wrap a client, for example to count the commands that it sends.
pub trait PreparedSender: Send + Sync + 'static {
    /// The application whose commands the client sends.
    fn application(&self) -> App;

    /// The [label](crate::SuiteBuilder::label) of the client's installation, if it has a label.
    fn installation(&self) -> Option<&str>;

    /// Returns a call that sends a prepared command exactly as it was prepared.
    fn send_prepared(&self, command: &PreparedCommand) -> SendPrepared;
}

impl<T: FromResponse> IntoFuture for SendPrepared<T> {
    type Output = Result<Receipt<T>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

debug_fields! { SendPrepared<T> |it| call: &it.call }

impl PreparedCommand {
    /// Checks that the command is unchanged since it was prepared. Sending a command also checks this.
    ///
    /// # Errors
    /// If the stored form is from a later SDK, or a part doesn't match the digest.
    pub fn verify(&self) -> Result<(), Error> {
        let reject = |message: String| Err(Error::prepared(message));
        if !(1..=VERSION).contains(&self.version) {
            return reject(format!(
                "its stored form has version {}, but this SDK reads only 1 to {VERSION}",
                self.version
            ));
        }
        // The digest of version 1 doesn't cover the fields of later versions.
        let misplaced = self.prepared_at.is_some() || self.flags != CommandFlags::default();
        // In the digest, the largest time means that there is none.
        let no_time = self.prepared_at == Some(u64::MAX);
        if self.digest != self.compute_digest() || (self.version == 1 && misplaced) || no_time {
            return reject(
                "its digest does not match: it was changed after it was prepared".to_owned(),
            );
        }
        Ok(())
    }
}

/// A prepared command's operation and request, if the command is unchanged and for this client.
fn request_of(
    client: &ApiClient,
    command: &PreparedCommand,
) -> Result<(&'static Operation, Draft), Error> {
    command.verify()?;
    check_client(client, command)?;
    let operation = operation_of(client, command).map_err(Error::prepared)?;
    let misplaced = || Error::prepared("its path is not a valid path of the application");
    if !is_safe_target(command.path()) {
        return Err(misplaced());
    }
    let base = client.endpoint().base();
    let url = Url::parse(&format!("{base}{}", command.path()))
        .map_err(|error| misplaced().with_cause(error))?;
    let method = Method::from_wire(command.method())
        .ok_or_else(|| Error::prepared("its HTTP method is unknown"))?;
    let mut draft = Draft::new(method, url);
    let must_have = operation.body && !operation.optional_body;
    if must_have || !command.body().is_empty() {
        if operation.has_json_body() {
            serde_json::from_str::<IgnoredAny>(command.body())
                .map_err(|error| Error::prepared("its body is not JSON").with_cause(error))?;
        }
        draft = draft.json(Bytes::copy_from_slice(command.body().as_bytes()));
    }
    Ok((operation, draft))
}

/// Checks that a command is for this client's application and audience.
fn check_client(client: &ApiClient, command: &PreparedCommand) -> Result<(), Error> {
    let application = client.application().app;
    let its_own: App = command.application().parse()?;
    if its_own != application {
        return Err(Error::prepared(format!(
            "it is for {}, but this client is for {application}",
            command.application()
        )));
    }
    if command.audience() != client.audience() {
        return Err(Error::prepared(format!(
            "it was prepared for the audience {}, but this client uses {}",
            command.audience().unwrap_or("(none)"),
            client.audience().unwrap_or("(none)")
        )));
    }
    Ok(())
}

fn call_of(client: &ApiClient, operation: &'static Operation, command: &PreparedCommand) -> Call {
    let mut call = Call::new(client, operation);
    call.stored = Some(Arc::new(command.clone()));
    call.options.key.clone_from(&command.idempotency_key);
    let allowed = |allowed| {
        if allowed {
            ExactReplay::Allowed
        } else {
            ExactReplay::Forbidden
        }
    };
    call.options.exact_replay = command.flags.replay_exact.map(allowed);
    call.options.without_token = command.flags.without_token;
    for (name, value) in command.headers() {
        call.change(|options| options.with_header(name, value));
    }
    call
}

/// The operation of a command, if a call could have prepared this command.
fn operation_of(
    client: &ApiClient,
    command: &PreparedCommand,
) -> Result<&'static Operation, String> {
    let keyed = command.idempotency_key().is_some();
    let operation = if command.operation() == RAW {
        &client.application().raw.command
    } else {
        let known = client.application().operation(command.operation());
        let known = known.filter(|known| known.safety.is_command());
        let known =
            known.ok_or_else(|| format!("this SDK has no command {}", command.operation()))?;
        let path = command.path().split('?').next().unwrap_or_default();
        if command.method() != known.method.as_str() || !matches_route(path, known.route) {
            return Err(format!("its method or path does not match {}", known.id));
        }
        known
    };
    if command.method() == "GET" {
        return Err("a GET request is not a command".to_owned());
    }
    if operation.safety == Safety::Keyed && !keyed {
        return Err(format!(
            "it lacks the idempotency key that {} requires",
            operation.id
        ));
    }
    Ok(operation)
}

/// Whether a call could have produced this path and query: all segments are valid, and no query overrides the method.
fn is_safe_target(target: &str) -> bool {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let odd =
        |character: char| character.is_control() || character.is_whitespace() || character == '#';
    let overrides = |(name, _): (Cow<'_, str>, _)| name.eq_ignore_ascii_case("_method");
    path.strip_prefix('/')
        .is_some_and(|path| path.split('/').all(is_segment))
        && !target.contains(odd)
        && !form_urlencoded::parse(query.as_bytes()).any(overrides)
}

/// Whether a path matches a route such as `/people/{reference}`.
fn matches_route(path: &str, route: &str) -> bool {
    let (mut path, mut route) = (path.split('/'), route.split('/'));
    loop {
        match (path.next(), route.next()) {
            (None, None) => return true,
            (Some(segment), Some(part)) if part.starts_with('{') => {
                if !is_segment(segment) {
                    return false;
                }
            }
            (Some(segment), Some(part)) if segment == part => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_safe_target, matches_route};

    #[test]
    fn a_stored_path_must_be_a_path_that_a_call_could_produce() {
        for good in ["/a", "/a/b%20c?x=%2e%2e&y", "/a/100%25", "/a?limit=1"] {
            assert!(is_safe_target(good), "{good}");
        }
        for bad in [
            "",
            "a",
            "//evil",
            "/a//b",
            "/a/",
            "/a/..",
            "/a/./b",
            "/a/%2e%2e/b",
            "/a/%252e%252e/b",
            "/..;/b",
            "/a;x=1",
            "/a\\b",
            "/a%5cb",
            "/a%2fb",
            "/a#f",
            "/a b",
            "/a\n",
            "/a?_method=DELETE",
            "/a?%5Fmethod=PUT",
        ] {
            assert!(!is_safe_target(bad), "{bad}");
        }
    }

    #[test]
    fn a_path_matches_only_its_own_route() {
        assert!(matches_route("/a/b", "/a/b"));
        assert!(matches_route("/a/PER-1/c", "/a/{reference}/c"));
        for other in ["/a", "/a/b/c", "/a/x", "a/b", "/a/b/", "//a/b", "/a/../a/b"] {
            assert!(!matches_route(other, "/a/b"), "{other}");
        }
        assert!(!matches_route("/a/../c", "/a/{reference}/c"));
    }
}
