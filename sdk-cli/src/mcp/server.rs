//! The Model Context Protocol server. It can't send a write: it stores proposals.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ResourceUpdatedNotificationParam, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sdk_core::{App, Suite};
use serde_json::{Map, Value, json};
use tokio::task::{AbortHandle, JoinSet};

use super::access::{self, APPROVER, Access, Party};
use super::calls::Arguments;
use super::store::{Approvals, Proposal, Status};
use super::tools;
use crate::catalog::Entry;
use crate::context::Context;
use crate::output::{Exit, Failure};

/// How often the server checks subscribed proposals.
const POLL: Duration = Duration::from_secs(1);
const URI: &str = "suite://proposals/";

/// The permissions of the credential that sends an operation, or the reason why the operation isn't offered.
type Offer = Result<Access, String>;

/// The server of one agent.
#[derive(Clone)]
pub(crate) struct Server(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) context: Context,
    pub(crate) suite: Suite,
    /// The client ID and the permissions of the agent when it started.
    pub(crate) own: Party,
    pub(crate) entries: Vec<Entry>,
    pub(crate) undocumented_scopes: bool,
    pub(crate) store: Approvals,
    pub(crate) lifetime: Duration,
    pub(crate) max_result: usize,
    /// The subscriptions of a client with `initialize`, by URI.
    pub(crate) subscriptions: Mutex<HashMap<String, AbortHandle>>,
}

impl Server {
    pub(crate) fn new(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }

    /// Returns the approver and the approver's permissions, if an approver uses the store.
    fn approver(&self) -> Result<Option<Party>, Failure> {
        access::registered(&self.0.store, APPROVER)
    }

    /// Returns how the right to approve this agent's writes is protected.
    fn protection(&self) -> Result<String, Failure> {
        let approver = self.approver()?;
        Ok(access::protection(Some(&self.0.own), approver.as_ref()).0)
    }

    /// Returns the selected operations of these applications, each with the permissions of the credential that would send
    /// it, or with the reason why it isn't offered.
    async fn checked(&self, apps: &[App]) -> Result<Vec<(Entry, Offer)>, Failure> {
        let approver = self.approver()?.map(|(_, access)| access);
        let own = Access::of(&self.0.context, &self.0.suite, apps).await?;
        let entries = self.0.entries.iter();
        let entries = entries.filter(|it| apps.contains(&it.operation.application));
        let checked = entries.map(|entry| {
            let app = entry.operation.application.name();
            let access = match (entry.is_write(), &approver) {
                (false, _) => Ok(&own),
                (true, None) => Err("no person has run `suite mcp approvals run` on this store"),
                // The agent's process prepares the write, for the approver's origin.
                (true, Some(access)) if access.origin(app) != own.origin(app) => {
                    Err("the agent and the approver have different URLs for its application")
                }
                (true, Some(access)) => Ok(access),
            };
            let offer = access.and_then(|access| {
                let denial = access.denial(entry, self.0.undocumented_scopes);
                denial.map_or(Ok(access.clone()), Err)
            });
            let problems = own.problems.join("; ");
            let offer = offer.map_err(|why| format!("{why}. {problems}").trim().to_owned());
            (*entry, offer)
        });
        Ok(checked.collect())
    }

    async fn called(
        &self,
        name: &str,
        given: Map<String, Value>,
    ) -> Result<CallToolResult, Failure> {
        if name == tools::STATUS {
            let digest = given.get("digest").and_then(Value::as_str);
            return Ok(success(self.status(digest.unwrap_or_default()).await?));
        }
        let named = |it: &&Entry| tools::name(it) == name;
        let entry = self.0.entries.iter().find(named).ok_or_else(|| {
            let name = sdk_core::one_line(name);
            Failure::usage(format!(
                "{name} is not offered: it is unknown or not selected"
            ))
        })?;
        let checked = self.checked(&[entry.operation.application]).await?;
        let own = checked.into_iter().find(|(it, _)| named(&it));
        let offer = own.map_or(Err("it is not selected".to_owned()), |(_, offer)| offer);
        let access =
            offer.map_err(|why| Failure::usage(format!("{name} is not offered: {why}")))?;
        let mut arguments = Arguments::check(entry, given)?;
        if entry.is_write() {
            return self.propose(entry, &access, &arguments).await;
        }
        let limit = self.0.max_result;
        let (body, note) = arguments.read(&self.0.suite, entry, limit).await?;
        Ok(success([Some(body), note].into_iter().flatten()))
    }

    async fn propose(
        &self,
        entry: &Entry,
        access: &Access,
        arguments: &Arguments,
    ) -> Result<CallToolResult, Failure> {
        access.check_type(entry, arguments.body.as_ref().unwrap_or(&Value::Null))?;
        let store = &self.0.store;
        let missing = || Failure::setup("no approver uses the store");
        let (client, access) = self.approver()?.ok_or_else(missing)?;
        let app = entry.operation.application.name();
        let origin = access.origin(app).ok_or_else(missing)?;
        let command = arguments.prepare(&self.0.suite, entry, origin, &client)?;
        let digest = command.approval_digest(origin, &client);
        store.propose(
            &digest,
            &command,
            arguments.intent.as_deref(),
            self.0.lifetime,
        )?;
        Ok(success(self.status(&digest).await?))
    }

    /// Returns the status of a proposal as JSON, and the result of an applied write.
    async fn status(&self, digest: &str) -> Result<impl Iterator<Item = String>, Failure> {
        let store = &self.0.store;
        let proposal = store.find(digest)?.ok_or_else(|| {
            let message = format!("there is no proposal {}", sdk_core::one_line(digest));
            Failure::new(Exit::Failed, "not_found", message)
        })?;
        let progress = store.progress(&proposal).await?;
        let Proposal {
            http_status,
            replayed,
            result,
            expires,
            ..
        } = proposal;
        let next = match progress.status {
            Status::Pending => {
                "Nothing was sent. Ask a person to run `suite mcp approvals approve` with this digest, then call approval_status."
            }
            Status::Approved => {
                "A person approved it. It is being sent; call approval_status for its result."
            }
            Status::Done => "It was applied once. Proposing it again does not repeat it.",
            Status::Parked => {
                "See the note. If it had no effect, correct it and propose it again. Otherwise, a person must check it first."
            }
            Status::Expired => "Nothing was sent. Propose it again to ask again.",
            Status::Rejected => "It will not be sent again.",
        };
        let status = json!({
            "status": progress.status.as_str(),
            "digest": digest,
            "resource": format!("{URI}{digest}"),
            "expiresAt": jiff::Timestamp::from_millisecond(expires).ok().map(|it| it.to_string()),
            "httpStatus": http_status,
            "replayed": replayed,
            "note": progress.note,
            "next": next,
            "protection": self.protection()?,
        });
        let result = result.filter(|_| progress.status == Status::Done);
        Ok([Some(status.to_string()), result].into_iter().flatten())
    }

    /// Calls `notify` when the status of a proposal changes, until the status is final or `notify` returns false.
    async fn watch<F: Future<Output = bool>>(&self, uri: &str, notify: impl Fn() -> F) {
        let mut known = None;
        loop {
            let Some(digest) = uri.strip_prefix(URI) else {
                return;
            };
            let Ok(Some(proposal)) = self.0.store.find(digest) else {
                return;
            };
            if let Ok(progress) = self.0.store.progress(&proposal).await {
                let is_new = known
                    .replace(progress.status)
                    .is_some_and(|it| it != progress.status);
                // A person can approve a parked write again.
                let may_change = [Status::Pending, Status::Approved, Status::Parked];
                let is_over = !may_change.contains(&progress.status);
                if (is_new && !notify().await) || is_over {
                    return;
                }
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

fn success(texts: impl IntoIterator<Item = String>) -> CallToolResult {
    CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("suite", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Reads run immediately. Writes are stored as proposals and sent only after a person approves them. Never send a write in another way.",
            )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let apps: Vec<App> = App::all().collect();
        let checked = self.checked(&apps).await;
        let checked = checked.map_err(|it| ErrorData::internal_error(it.to_string(), None))?;
        let offered = checked
            .iter()
            .filter_map(|(entry, offer)| Some((entry, offer.as_ref().ok()?)));
        let offered: Vec<_> = offered.collect();
        let has_writes = offered.iter().any(|(entry, _)| entry.is_write());
        let tools = offered
            .iter()
            .map(|(entry, access)| tools::tool(entry, access));
        let tools = tools.chain(has_writes.then(tools::status)).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let server = self.clone();
        // A task, because a panic must not leave the client without a response. Dropping the set ends the task.
        let mut task = JoinSet::new();
        let given = request.arguments.unwrap_or_default();
        task.spawn(async move { server.called(&request.name, given).await });
        let called = tokio::select! {
            called = task.join_next() => called,
            () = context.ct.cancelled() => None,
        };
        Ok(match called {
            Some(Ok(Ok(result))) => result,
            Some(Ok(Err(failure))) => {
                let hint = failure
                    .hint
                    .as_ref()
                    .map(|it| format!("; {it}"))
                    .unwrap_or_default();
                CallToolResult::error(vec![ContentBlock::text(format!("{failure}{hint}"))])
            }
            Some(Err(_)) => CallToolResult::error(vec![ContentBlock::text(
                "the call failed with an internal error",
            )]),
            None => CallToolResult::error(vec![ContentBlock::text("cancelled")]),
        }
        .into())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let status = self.read_status(&request.uri).await?.into_iter();
        let contents = status.map(|it| ResourceContents::text(it, request.uri.clone()));
        Ok(ReadResourceResult::new(contents.collect()).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.read_status(&request.uri).await?;
        let (server, peer, uri) = (self.clone(), context.peer, request.uri.clone());
        let task = tokio::spawn(async move {
            let notify = async || {
                let updated = ResourceUpdatedNotificationParam::new(uri.clone());
                peer.notify_resource_updated(updated).await.is_ok()
            };
            server.watch(&uri, notify).await;
        });
        self.unwatch(&request.uri, Some(task.abort_handle()));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unwatch(&request.uri, None);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        let own = uris.filter(|it| it.starts_with(URI));
        Some(
            SubscriptionFilter::builder()
                .resource_subscriptions(own)
                .build(),
        )
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut watches = JoinSet::new();
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let (server, sink, uri) = (self.clone(), context.sink().clone(), uri.clone());
            watches.spawn(async move {
                let notify = async || sink.notify_resource_updated(uri.clone()).await.is_ok();
                server.watch(&uri, notify).await;
            });
        }
        // Without an open watch, there is nothing more to notify, and the client shouldn't wait for its end.
        tokio::select! {
            () = context.cancelled() => {}
            () = async { while watches.join_next().await.is_some() {} } => {}
        }
        Ok(())
    }
}

impl Server {
    /// Returns the content of the resource of a proposal.
    async fn read_status(&self, uri: &str) -> Result<Vec<String>, ErrorData> {
        let status = self.status(uri.strip_prefix(URI).unwrap_or_default()).await;
        let status = status.map_err(|it| ErrorData::resource_not_found(it.to_string(), None))?;
        Ok(status.collect())
    }

    /// Ends a subscription, and replaces it with this task, if any.
    fn unwatch(&self, uri: &str, task: Option<AbortHandle>) {
        let mut all = self
            .0
            .subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let old = match task {
            Some(task) => all.insert(uri.to_owned(), task),
            None => all.remove(uri),
        };
        if let Some(old) = old {
            old.abort();
        }
    }
}
