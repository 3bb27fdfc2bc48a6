//! The SDK's handler: sends each method to its family, and changes to those who subscribed.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ResourceUpdatedNotificationParam, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, ServiceError, SubscriptionContext, SubscriptionSendError,
};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::resources::{self, CLOCK_URI};
use super::state::{Change, Shared};
use super::tool::{self, Call};
use super::{completion, prompts, tools_log};

type Cx = RequestContext<RoleServer>;

/// How often the clock resource changes for its subscribers.
const TICK: Duration = Duration::from_millis(500);
/// Most resource subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 1000;

const INSTRUCTIONS: &str = "A server to try MCP clients and test scripts on. Start with create_user and get_user; \
    echo_json and the zoo tools return their arguments, fail and rpc_error fail.";

/// The demo server as one connection sees it. Over HTTP a stateless request is a connection of its own.
#[derive(Clone)]
pub(super) struct Demo {
    /// State of the process.
    pub shared: Arc<Shared>,
    /// Becomes true when the client has closed its side.
    pub closing: watch::Receiver<bool>,
    /// Lowest log severity the connection wants (handshake era).
    pub level: Arc<AtomicU8>,
    /// Resources the connection subscribed to (handshake era).
    subscribed: Arc<Mutex<BTreeSet<String>>>,
}

impl Demo {
    /// A connection without log threshold and subscriptions.
    pub(super) fn new(shared: Arc<Shared>, closing: watch::Receiver<bool>) -> Self {
        Self { shared, closing, level: Arc::default(), subscribed: Arc::default() }
    }

    fn subscribed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerHandler for Demo {
    #[expect(deprecated, reason = "the SDK marks logging as deprecated; every revision still has it")]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        let about =
            Implementation::new("mcp-tester-demo", env!("CARGO_PKG_VERSION")).with_title("mcp-tester demo server");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(&self, params: Option<PaginatedRequestParams>, _: Cx) -> Result<ListToolsResult, ErrorData> {
        // All tools fit on one page, so every cursor is a wrong one.
        if params.is_some_and(|params| params.cursor.is_some()) {
            return Err(ErrorData::invalid_params("unknown cursor", None));
        }
        Ok(ListToolsResult::with_all_items(tool::table().iter().map(|entry| entry.tool.clone()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool::find(name).map(|entry| entry.tool.clone())
    }

    async fn call_tool(&self, params: CallToolRequestParams, cx: Cx) -> Result<CallToolResponse, ErrorData> {
        let entry = tool::find(&params.name)
            .ok_or_else(|| ErrorData::invalid_params(format!("Unknown tool: {}", params.name), None))?;
        let call = Call {
            args: params.arguments.unwrap_or_default(),
            input_responses: params.input_responses,
            request_state: params.request_state,
            cx,
            demo: self.clone(),
        };
        entry.call(call).await
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Cx,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list_page(params.as_ref())
    }

    async fn list_resource_templates(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Cx,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        resources::template_page(params.as_ref())
    }

    async fn read_resource(&self, params: ReadResourceRequestParams, _: Cx) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&params.uri, &self.shared).map(Into::into)
    }

    async fn list_prompts(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Cx,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompts::list_page(params.as_ref())
    }

    async fn get_prompt(&self, params: GetPromptRequestParams, _: Cx) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&params).map(Into::into)
    }

    async fn complete(&self, params: CompleteRequestParams, _: Cx) -> Result<CompleteResult, ErrorData> {
        completion::complete(&params, &self.shared)
    }

    #[expect(deprecated, reason = "the SDK marks logging as deprecated; the handshake era still has it")]
    async fn set_level(&self, params: rmcp::model::SetLevelRequestParams, cx: Cx) -> Result<(), ErrorData> {
        if tool::is_modern(&cx) {
            // 2026-07-28 has no such method, but the SDK lets it through.
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "logging/setLevel", None));
        }
        tools_log::set_level(self, &params);
        Ok(())
    }

    async fn get_task(&self, params: GetTaskParams, _: Cx) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.shared.tasks.get_task(&params.task_id)?))
    }

    async fn update_task(&self, params: UpdateTaskParams, _: Cx) -> Result<(), ErrorData> {
        self.shared.tasks.update_task(&params.task_id, params.input_responses)
    }

    async fn cancel_task(&self, params: CancelTaskParams, _: Cx) -> Result<(), ErrorData> {
        self.shared.tasks.cancel_task(&params.task_id)
    }

    async fn subscribe(&self, params: SubscribeRequestParams, cx: Cx) -> Result<(), ErrorData> {
        if !resources::exists(&params.uri, &self.shared) {
            return Err(ErrorData::resource_not_found(format!("Resource not found: {}", params.uri), None));
        }
        let is_new = {
            let mut subscribed = self.subscribed();
            if subscribed.len() >= MAX_SUBSCRIPTIONS {
                return Err(ErrorData::invalid_params("too many subscriptions", None));
            }
            subscribed.insert(params.uri.clone())
        };
        if is_new && params.uri == CLOCK_URI {
            self.start_clock(cx.peer);
        }
        Ok(())
    }

    async fn unsubscribe(&self, params: UnsubscribeRequestParams, _: Cx) -> Result<(), ErrorData> {
        self.subscribed().remove(&params.uri);
        Ok(())
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        let demo = self.clone();
        let mut changes = self.shared.changes.subscribe();
        // One task for each connection; it ends with the first message that cannot be delivered or with the connection.
        tokio::spawn(async move {
            let mut closing = demo.closing.clone();
            loop {
                let change = tokio::select! {
                    change = changes.recv() => change,
                    _ = closing.wait_for(|closed| *closed) => return,
                    () = tokio::time::sleep(Duration::from_secs(5)) => {
                        if cx.peer.is_transport_closed() { return }
                        continue;
                    }
                };
                let sent = match change {
                    Ok(change) => demo.forward(&cx.peer, change).await,
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                if sent.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::exists(uri, &self.shared));
            uris.truncate(MAX_SUBSCRIPTIONS);
        }
        Some(accepted)
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.changes.subscribe();
        let mut closing = self.closing.clone();
        let uris = cx.accepted().resource_subscriptions.clone().unwrap_or_default();
        let has_clock = uris.iter().any(|uri| uri == CLOCK_URI);
        if has_clock {
            self.shared.announce(Change::Tools);
        }
        let mut clock = tokio::time::interval_at(tokio::time::Instant::now() + TICK, TICK);
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                _ = clock.tick(), if has_clock => Ok(Change::Updated(CLOCK_URI.to_owned())),
                () = cx.cancelled() => return Ok(()),
                _ = closing.wait_for(|closed| *closed) => return Ok(()),
            };
            let sent = match change {
                Ok(Change::Tools) => cx.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => cx.sink().notify_prompt_list_changed().await,
                Ok(Change::Resources) => cx.sink().notify_resource_list_changed().await,
                Ok(Change::Updated(uri)) => cx.sink().notify_resource_updated(uri).await,
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return Ok(()),
            };
            // Not accepted means that this subscriber did not ask for it.
            if let Err(SubscriptionSendError::SubscriptionClosed | SubscriptionSendError::Service(_)) = sent {
                return Ok(());
            }
        }
    }
}

impl Demo {
    /// Sends a change to a connection of the handshake era, if it concerns it.
    async fn forward(&self, peer: &Peer<RoleServer>, change: Change) -> Result<(), ServiceError> {
        match change {
            Change::Tools => peer.notify_tool_list_changed().await,
            Change::Prompts => peer.notify_prompt_list_changed().await,
            Change::Resources => peer.notify_resource_list_changed().await,
            Change::Updated(uri) if self.subscribed().contains(&uri) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            Change::Updated(_) => Ok(()),
        }
    }

    /// Lets the clock resource tick for a connection of the handshake era until it unsubscribes or leaves.
    ///
    /// The list of tools is announced once as well, so that a script can wait for both without calling a tool.
    fn start_clock(&self, peer: Peer<RoleServer>) {
        let demo = self.clone();
        tokio::spawn(async move {
            let mut closing = demo.closing.clone();
            demo.shared.announce(Change::Tools);
            loop {
                tokio::select! {
                    () = tokio::time::sleep(TICK) => {}
                    _ = closing.wait_for(|closed| *closed) => return,
                }
                let change = Change::Updated(CLOCK_URI.to_owned());
                if !demo.subscribed().contains(CLOCK_URI) || demo.forward(&peer, change).await.is_err() {
                    return;
                }
            }
        });
    }
}
