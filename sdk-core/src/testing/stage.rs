//! A call that is never sent, for a client that has nowhere to send it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Version};
use tokio::time::Instant;

use crate::app::App;
use crate::application::Application;
use crate::call::Call;
use crate::call::attempt::Outcome;
use crate::call::rehearsal::Rehearsal;
use crate::client::ApiClient;
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::Error;
use crate::error::kind::Effect;
use crate::macros::debug_fields;
use crate::operation::{Operation, RawOperations, Safety};
use crate::request::draft::Draft;
use crate::testing::transport::ScriptedTransport;
use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;
use crate::token::policy::TokenPolicy;
use crate::token::source::{AccessToken, TokenFuture, TokenRequest, TokenSource};

static APPLICATIONS: [Application; 4] = [
    application(App::Platform),
    application(App::Crm),
    application(App::Calendar),
    application(App::Accounting),
];

const fn application(app: App) -> Application {
    Application {
        app,
        title: "",
        contract_version: "",
        statuses: &[],
        shows_envelope: matches!(app, App::Platform),
        metadata: None,
        metadata_members: &[],
        operations: &[],
        raw: RawOperations::of(app),
    }
}

/// What both builders are told of the call and the reply.
#[derive(Clone, Default)]
pub(super) struct Stage {
    pub(super) operation: Option<&'static Operation>,
    pub(super) attempts: Option<u32>,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    pub(super) key: Option<Arc<IdempotencyKey>>,
    pub(super) command: Option<Arc<PreparedCommand>>,
    pub(super) granted: Option<Vec<String>>,
}

impl Stage {
    pub(super) fn of(operation: &'static Operation) -> Self {
        Self {
            operation: Some(operation),
            ..Self::default()
        }
    }

    #[track_caller]
    pub(super) fn header(&mut self, name: &str, value: &str) {
        let name: HeaderName = name.parse().expect("the name of a header");
        let value: HeaderValue = value.parse().expect("the value of a header");
        self.headers.append(name, value);
    }

    /// The end of a call.
    ///
    /// # Panics
    /// If a command does not fit its operation, or a read has a key.
    #[track_caller]
    pub(super) fn rehearsal(&self, attempts: u32, before: Effect) -> Rehearsal {
        let mut call = self.call();
        let operation = call.operation();
        assert!(
            self.key.is_none() || operation.safety != Safety::Read,
            "a read has no idempotency key"
        );
        if let Some(command) = &self.command {
            assert!(
                command.operation() == operation.id,
                "a command {} needs its `operation`, and this is {operation}",
                command.operation()
            );
            call.options.key.clone_from(&command.idempotency_key);
            call.stored = Some(Arc::clone(command));
        }
        let mut token = AccessToken::new("token-of-a-test");
        if let Some(granted) = &self.granted {
            token = token.with_scopes(granted.clone());
        }
        let policy = TokenPolicy::default();
        let bearer = BearerToken::prepare(&token, Instant::now(), 1, &policy, 0.5);
        let draft = draft_of(&call, Bytes::from_static(b"{}"));
        Rehearsal::new(call, draft, bearer.expect("a token"), attempts, before)
    }

    pub(super) fn prepared(&self, body: Bytes) -> Result<PreparedCommand, Error> {
        let call = self.call();
        let draft = draft_of(&call, body);
        call.prepare(Ok(draft))
    }

    /// A call of the operation. Without one, it is a raw call by path.
    fn call(&self) -> Call {
        let app = self.operation.map_or(App::Crm, |it| it.application);
        let own = APPLICATIONS.iter().find(|it| it.app == app);
        let own = own.expect("every application is listed");
        // At its addresses, so that its suites send what is made here.
        let transport = ScriptedTransport::new();
        let suite = transport.suite().token_source(NoTokens).build();
        let client = suite.and_then(|suite| ApiClient::new(&suite, own));
        let client = client.expect("the settings are sound");
        let mut call = Call::new(&client, self.operation.unwrap_or(&own.raw.read));
        call.options.key.clone_from(&self.key);
        call
    }
}

// Without headers and body, which may be real ones.
debug_fields! { Stage |it| operation: it.operation.map(|it| it.id) }

fn draft_of(call: &Call, body: Bytes) -> Draft {
    let operation = call.operation();
    // A segment for each parameter, so that the path follows the route.
    let path = operation.route.replace(['{', '}'], "");
    let mut draft = call.endpoint().get(&path);
    draft.method = operation.method;
    if operation.body {
        draft = draft.json(body);
    }
    draft
}

/// An attempt with this reply.
pub(super) fn replied(status: u16, headers: HeaderMap, body: Bytes) -> Outcome {
    Outcome::Reply {
        status,
        headers,
        version: Version::HTTP_11,
        body: Ok(body),
    }
}

/// Nothing asks it for a token, because nothing is sent.
struct NoTokens;

impl TokenSource for NoTokens {
    fn token<'a>(&'a self, _request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async { Err(TokenError::unavailable("there is no server")) })
    }
}

/// The setters that both builders have.
macro_rules! stage_setters {
    () => {
        /// Sets how many attempts were made.
        pub fn attempts(mut self, attempts: u32) -> Self {
            self.stage.attempts = Some(attempts);
            self
        }

        /// Adds a header to the reply.
        ///
        /// # Panics
        /// If the name or the value is not that of a header.
        #[track_caller]
        pub fn header(mut self, name: &str, value: &str) -> Self {
            self.stage.header(name, value);
            self
        }

        /// Sets the body of the reply.
        pub fn body(mut self, body: impl Into<Bytes>) -> Self {
            self.stage.body = Some(body.into());
            self
        }

        /// Sets the scopes that the token was granted; by default the token endpoint did not say.
        pub fn granted(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.stage.granted = Some(scopes.into_iter().map(Into::into).collect());
            self
        }

        /// Sets the key of the command; a random one by default, if the operation takes one.
        pub fn idempotency_key(mut self, key: IdempotencyKey) -> Self {
            self.stage.key = Some(Arc::new(key));
            self
        }

        /// Makes the call a replay of this command, as `send_prepared` does. Its key counts.
        pub fn command(mut self, command: PreparedCommand) -> Self {
            self.stage.command = Some(Arc::new(command));
            self
        }
    };
}

pub(super) use stage_setters;
