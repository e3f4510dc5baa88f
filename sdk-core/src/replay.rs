//! Replay: sending a stored command again exactly as it was prepared.
//!
//! The stored command itself belongs in `command`; whether and when to send it, in the crate `sdk-outbox`.

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
use crate::reply::decode::FromReply;
use crate::reply::response::Receipt;
use crate::request::check::is_segment;
use crate::request::draft::Draft;

/// A replay of a prepared command. Made by `send_prepared` of a client; `.await` sends it.
///
/// The command does not change; time limits and retries are set here.
///
/// A command that [was sent](PreparedCommand::was_sent) keeps its [`Effect::Unknown`](crate::Effect) until a response says that
/// it is done: a rejection, or a token that is missing, says nothing about the earlier attempt. Whoever sends it again after
/// every such error does so for ever, so let the status decide: the other 4xx stay what they are.
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
///     println!("it had been committed before: {receipt:?}");
/// }
/// # Ok(()) }
/// ```
#[must_use = "a request does nothing until it is sent: add `.await`"]
pub struct SendPrepared<T = RawJson> {
    call: Call,
    draft: Result<Draft, Error>,
    /// Whether this is a raw call by path that is not allowed yet.
    raw_not_allowed: bool,
    result: PhantomData<fn() -> T>,
}

impl SendPrepared {
    /// Checks a command against the client that will send it. A mismatch fails the call when it is sent.
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
    /// Without it the result is raw JSON, which [`RawJson::decode`] reads into your own type. It is null where the operation
    /// succeeds with something else, such as a text, which [`Receipt::bytes`] has.
    pub fn typed<T: FromReply>(self) -> SendPrepared<T> {
        SendPrepared {
            call: self.call,
            draft: self.draft,
            raw_not_allowed: self.raw_not_allowed,
            result: PhantomData,
        }
    }
}

impl<T: FromReply> SendPrepared<T> {
    /// Limits each attempt, from the first byte sent to the last byte read.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.with_timeout(timeout))
    }

    /// Limits the whole call: token, attempts and waits.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|options| options.with_deadline(deadline))
    }

    /// Sets how the call is retried.
    pub fn retry(self, policy: RetryPolicy) -> Self {
        self.with(|options| options.with_retry(policy))
    }

    /// Sets what happens to a response with an unexpected `schemaVersion`.
    pub fn schema_policy(self, policy: SchemaPolicy) -> Self {
        self.with(|options| options.with_schema_policy(policy))
    }

    /// Sets whether this command may be retried after an ambiguous failure; see [`ExactReplay`].
    pub fn exact_replay(self, replay: ExactReplay) -> Self {
        self.with(|options| options.with_exact_replay(replay))
    }

    /// Adds a header to those of the command, such as one for tracing.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(stored) = &self.call.stored
            && stored
                .headers()
                .any(|(own, _)| own.eq_ignore_ascii_case(name))
        {
            let rule = "be one that the command does not already have";
            self.reject(Error::invalid(&format!("header {name}"), rule, "it twice"));
        }
        self.with(|options| options.with_header(name, value))
    }

    /// Allows a command that a raw call by path prepared, which can be any request to the application. Use it only where you
    /// expect such commands.
    pub fn allow_raw_path(mut self) -> Self {
        self.raw_not_allowed = false;
        self
    }

    /// Sends the command.
    ///
    /// # Errors
    /// If the command was changed after it was prepared, or belongs to another client; otherwise as the command itself.
    pub async fn send(self) -> Result<Receipt<T>, Error> {
        let message = "it is a raw call by path: `allow_raw_path` allows it";
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

    /// The first rejection counts.
    fn reject(&mut self, error: Error) {
        if self.draft.is_ok() {
            self.draft = Err(error);
        }
    }
}

/// The client of any application, for code that sends stored commands of several, such as a worker.
///
/// Every client is one. Implement it to wrap a client, such as to count what it sends.
pub trait PreparedSender: Send + Sync + 'static {
    /// The application whose commands it sends.
    fn application(&self) -> App;

    /// The [label](crate::SuiteBuilder::label) of its installation, if it has one.
    fn installation(&self) -> Option<&str>;

    /// Sends a prepared command exactly as it was prepared, once it is awaited.
    fn send_prepared(&self, command: &PreparedCommand) -> SendPrepared;
}

impl<T: FromReply> IntoFuture for SendPrepared<T> {
    type Output = Result<Receipt<T>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

debug_fields! { SendPrepared<T> |it| call: &it.call }

impl PreparedCommand {
    /// Checks that the command is unchanged since it was prepared. Sending does this first.
    ///
    /// # Errors
    /// If the stored form is of a later SDK, or any part does not match the digest.
    pub fn verify(&self) -> Result<(), Error> {
        let reject = |message: String| Err(Error::prepared(message));
        if !(1..=VERSION).contains(&self.version) {
            return reject(format!(
                "its stored form has version {}, but this SDK reads only 1 to {VERSION}",
                self.version
            ));
        }
        // The digest of version 1 does not cover the fields of later versions.
        let misplaced = self.prepared_at.is_some() || self.flags != CommandFlags::default();
        // In the digest, the largest time stands for none.
        let no_time = self.prepared_at == Some(u64::MAX);
        if self.digest != self.compute_digest() || (self.version == 1 && misplaced) || no_time {
            return reject(
                "its digest does not match: it was changed after it was prepared".to_owned(),
            );
        }
        Ok(())
    }
}

/// The operation and the request of a prepared command, if it is unchanged and belongs to this client.
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

/// Checks that a command is for the application and the audience of this client.
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

/// A call that sends a prepared command as it was prepared.
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

/// The operation of a command, if a call could have prepared it like this.
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
            return Err(format!("its method or path is not that of {}", known.id));
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

/// Whether a call could have made this path and query: every segment is valid, and the query does not override the method.
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

/// Whether a path has the form of a route such as `/people/{reference}`.
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
    fn a_stored_path_is_one_that_a_call_could_have_made() {
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
    fn a_path_follows_its_route_only() {
        assert!(matches_route("/a/b", "/a/b"));
        assert!(matches_route("/a/PER-1/c", "/a/{reference}/c"));
        for other in ["/a", "/a/b/c", "/a/x", "a/b", "/a/b/", "//a/b", "/a/../a/b"] {
            assert!(!matches_route(other, "/a/b"), "{other}");
        }
        assert!(!matches_route("/a/../c", "/a/{reference}/c"));
    }
}
