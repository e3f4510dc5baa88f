//! Sending a prepared command exactly as it was prepared.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::IgnoredAny;
use url::{Url, form_urlencoded};

use crate::app::App;
use crate::call::Call;
use crate::client::ApiClient;
use crate::command::prepared::PreparedCommand;
use crate::error::Error;
use crate::json::raw::RawJson;
use crate::operation::RAW;
use crate::operation::{Method, Operation, Safety};
use crate::options::{CallOptions, ExactReplay};
use crate::reply::decode::FromReply;
use crate::reply::response::Receipt;
use crate::request::check::is_segment;
use crate::request::draft::Draft;
use crate::secret::value::Secret;

/// A prepared command on its way. Made by `send_prepared` of a client; `.await` sends it.
///
/// The command itself is what it was; how long to wait and how often to try is decided here.
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
#[must_use = "a request does nothing until it is sent"]
pub struct SendPrepared<T = RawJson> {
    prepared: Result<(Call, Draft), Error>,
    /// Whether the command is of a path that the operation table does not have, and nobody has allowed that.
    refused_raw: bool,
    result: PhantomData<fn() -> T>,
}

impl SendPrepared {
    /// Checks a command against the client that is to send it. What does not fit is said when it is sent.
    pub fn new(client: &ApiClient, command: &PreparedCommand) -> Self {
        Self {
            prepared: request_of(client, command),
            refused_raw: command.operation() == RAW,
            result: PhantomData,
        }
    }

    /// Takes the result as one of the client's types, with its checks: `typed::<CalendarCommandResult>()`.
    ///
    /// Without it the result is raw JSON, which [`Receipt::decode`] turns into any type of the caller's.
    pub fn typed<T: FromReply>(self) -> SendPrepared<T> {
        SendPrepared {
            prepared: self.prepared,
            refused_raw: self.refused_raw,
            result: PhantomData,
        }
    }
}

impl<T: FromReply> SendPrepared<T> {
    crate::option_setters!();
    crate::option_setters!(command);

    /// Adds a header to those that the command was prepared with, such as one for tracing.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Ok((call, _)) = &self.prepared
            && let Some(stored) = &call.stored
            && stored
                .headers()
                .any(|(own, _)| own.eq_ignore_ascii_case(name))
        {
            let (name, rule) = (
                format!("header {name}"),
                "be one that the command does not have",
            );
            self.prepared = Err(Error::invalid_unseen(&name, rule).of(call.operation));
        }
        self.with(|options| options.with_header(name, value))
    }

    /// Lets a command go out that a raw call of a path prepared: it can be any request of the application. Say so only
    /// where such commands are expected.
    pub fn allow_raw_path(mut self) -> Self {
        self.refused_raw = false;
        self
    }

    /// Sends the command only if it was [sealed](PreparedCommand::seal) with this secret: for tables that others can write
    /// to.
    pub fn sealed_by(mut self, secret: &Secret) -> Self {
        if let Ok((call, _)) = &self.prepared
            && let Some(Err(broken)) = call.stored.as_ref().map(|it| it.verify_seal(secret))
        {
            self.prepared = Err(broken);
        }
        self
    }

    /// Sends the command.
    ///
    /// # Errors
    /// When the command was changed after it was prepared, or belongs to another client; then as the command itself.
    pub async fn send(self) -> Result<Receipt<T>, Error> {
        let (call, draft) = self.prepared?;
        if self.refused_raw {
            let message = "it is a raw call of a path, which is sent only with `allow_raw_path`";
            return Err(Error::prepared(message).of(call.operation));
        }
        call.replay(draft).await
    }

    fn with(mut self, change: impl FnOnce(CallOptions) -> CallOptions) -> Self {
        if let Ok((call, _)) = &mut self.prepared {
            call.change(change);
        }
        self
    }
}

impl<T: FromReply> IntoFuture for SendPrepared<T> {
    type Output = Result<Receipt<T>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<T> fmt::Debug for SendPrepared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.prepared.as_ref().map(|(call, _)| call);
        f.debug_struct("SendPrepared")
            .field("call", &call)
            .finish_non_exhaustive()
    }
}

/// The request of a prepared command, if it is this client's and unchanged.
fn request_of(client: &ApiClient, command: &PreparedCommand) -> Result<(Call, Draft), Error> {
    let refuse = |message: String| Error::prepared(message);
    command.verify()?;
    let application = client.application().app;
    let its_own: App = command.application().parse()?;
    if its_own != application {
        return Err(refuse(format!(
            "it is for {}, this client is for {application}",
            command.application()
        )));
    }
    if command.audience() != client.audience() {
        return Err(refuse(format!(
            "it was prepared for the audience {}, this client's is {}",
            command.audience().unwrap_or("(none)"),
            client.audience().unwrap_or("(none)")
        )));
    }
    let operation = operation_of(client, command).map_err(refuse)?;
    if !is_plain(command.path()) {
        return Err(refuse("its path is not one of the application".to_owned()));
    }
    let base = client.endpoint().base();
    let url = Url::parse(&format!("{base}{}", command.path())).map_err(|error| {
        refuse("its path is not one of the application".to_owned()).with_cause(error)
    })?;
    let method = Method::from_wire(command.method());
    let method = method.ok_or_else(|| refuse("its HTTP method is unknown".to_owned()))?;
    let mut draft = Draft::new(method, url);
    let has_body = operation.body && !operation.is_raw();
    if has_body || !command.body().is_empty() {
        serde_json::from_str::<IgnoredAny>(command.body())
            .map_err(|error| refuse("its body is not JSON".to_owned()).with_cause(error))?;
        draft = draft.json(Bytes::copy_from_slice(command.body().as_bytes()));
    }

    let mut call = Call::new(client, operation);
    call.stored = Some(Arc::new(command.clone()));
    call.options.key = command.shared_key();
    let allowed = |allowed| {
        if allowed {
            ExactReplay::Allowed
        } else {
            ExactReplay::Forbidden
        }
    };
    call.options.exact_replay = command.terms().replay_exact.map(allowed);
    call.options.without_token = command.terms().without_token;
    for (name, value) in command.headers() {
        call.change(|options| options.with_header(name, value));
    }
    Ok((call, draft))
}

/// The operation of a command, if it is one that could have been prepared like that.
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
            known.ok_or_else(|| format!("this SDK knows no command {}", command.operation()))?;
        let path = command.path().split('?').next().unwrap_or_default();
        if command.method() != known.method.as_str() || !follows(path, known.route) {
            return Err(format!("its path is not that of {}", known.id));
        }
        known
    };
    if command.method() == "GET" {
        return Err("a read is no command".to_owned());
    }
    if operation.safety == Safety::Keyed && !keyed {
        return Err(format!("{} needs an idempotency key", operation.id));
    }
    Ok(operation)
}

/// Whether a path and its query are as a call would have made them: every segment is one, and nothing in the query asks for
/// another method.
fn is_plain(target: &str) -> bool {
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
fn follows(path: &str, route: &str) -> bool {
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
    use super::{follows, is_plain};

    #[test]
    fn fault_78_a_stored_path_is_one_that_a_call_could_have_made() {
        for good in ["/a", "/a/b%20c?x=%2e%2e&y", "/a/100%25", "/a?limit=1"] {
            assert!(is_plain(good), "{good}");
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
            assert!(!is_plain(bad), "{bad}");
        }
    }

    #[test]
    fn a_path_follows_its_route_only() {
        assert!(follows("/a/b", "/a/b"));
        assert!(follows("/a/PER-1/c", "/a/{reference}/c"));
        for other in ["/a", "/a/b/c", "/a/x", "a/b", "/a/b/", "//a/b", "/a/../a/b"] {
            assert!(!follows(other, "/a/b"), "{other}");
        }
        assert!(!follows("/a/../c", "/a/{reference}/c"));
    }
}
