//! Lab server on the Rust SDK (rmcp 3.11). Speaks 2024-11-05 up to 2026-07-28, and the tasks extension.
//!   lab-rmcp               stdio
//!   lab-rmcp --http 4112   http://127.0.0.1:4112/mcp
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, CreateTaskResult, ElicitRequest, ElicitRequestParams, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, Implementation, InputRequest, InputRequests,
    InputRequiredResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerInfo, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::task_manager::{TaskExit, TaskManager, TaskOptions};
use rmcp::transport::streamable_http_server::{
    session::local::LocalSessionManager, StreamableHttpServerConfig, StreamableHttpService,
};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{json, Value};

type Cx = RequestContext<RoleServer>;

#[derive(Clone)]
struct Lab {
    tasks: TaskManager,
}

fn obj(v: Value) -> JsonObject {
    v.as_object().cloned().unwrap_or_default()
}

fn tool(name: &'static str, about: &'static str, properties: Value) -> Tool {
    let required: Vec<String> = obj(properties.clone()).keys().cloned().collect();
    Tool::new(name, about, obj(json!({"type": "object", "properties": properties, "required": required})))
}

fn text(s: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(s.into())]).into()
}

fn question(message: &str) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.into(),
        requested_schema: serde_json::from_value(json!({"type": "object",
            "properties": {"sure": {"type": "boolean", "default": true}}, "required": ["sure"]}))
        .expect("schema"),
    }
}

impl ServerHandler for Lab {
    fn get_info(&self) -> ServerInfo {
        ServerInfo::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .enable_resources_subscribe()
                .enable_prompts()
                .enable_completions()
                .enable_logging()
                .enable_tasks()
                .build(),
        )
        .with_server_info(Implementation::new("lab-rmcp", "1.0.0"))
        .with_instructions("Lab server for testing a client.")
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Cx) -> Result<ListToolsResult, ErrorData> {
        let s = json!({"type": "string"});
        let n = json!({"type": "integer"});
        let mut add = tool("add", "Adds two integers", json!({"a": n, "b": n}));
        add.output_schema =
            Some(std::sync::Arc::new(obj(json!({"type": "object", "properties": {"sum": n}, "required": ["sum"]}))));
        Ok(ListToolsResult::with_all_items(vec![
            add,
            tool("echo", "Echoes its text", json!({"text": s})),
            tool("fail", "Always a tool error", json!({"message": s})),
            tool("slow", "Reports progress, then ends", json!({"steps": n, "delay_ms": n})),
            tool("log", "Sends one log message", json!({"level": s, "text": s})),
            tool("confirm", "Asks the user to confirm", json!({"question": s})),
            tool("slow_task", "Runs as a task where the client can take one", json!({"ms": n})),
        ]))
    }

    async fn call_tool(&self, req: CallToolRequestParams, cx: Cx) -> Result<CallToolResponse, ErrorData> {
        let args = Value::Object(req.arguments.clone().unwrap_or_default());
        let str_arg = |k: &str| {
            args[k]
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| ErrorData::invalid_params(format!("{k} must be a string"), None))
        };
        let int_arg = |k: &str| {
            args[k].as_i64().ok_or_else(|| ErrorData::invalid_params(format!("{k} must be an integer"), None))
        };
        Ok(match req.name.as_ref() {
            "add" => {
                let sum = int_arg("a")? + int_arg("b")?;
                CallToolResult::structured(json!({"sum": sum})).into()
            }
            "echo" => text(str_arg("text")?),
            "fail" => CallToolResult::error(vec![ContentBlock::text(str_arg("message")?)]).into(),
            "slow" => {
                let (steps, delay) = (int_arg("steps")?, int_arg("delay_ms")?.max(0) as u64);
                for i in 1..=steps {
                    tokio::time::sleep(Duration::from_millis(delay)).await;
                    if let Some(token) = cx.meta.get_progress_token() {
                        let p = ProgressNotificationParam::new(token, i as f64)
                            .with_total(steps as f64)
                            .with_message(format!("step {i}"));
                        let _ = cx.peer.notify_progress(p).await;
                    }
                }
                text("done")
            }
            "log" => {
                let level: LoggingLevel = serde_json::from_value(json!(str_arg("level")?))
                    .map_err(|e| ErrorData::invalid_params(e.to_string(), None))?;
                let _ = cx
                    .peer
                    .notify_logging_message(
                        LoggingMessageNotificationParam::new(level, json!(str_arg("text")?)).with_logger("lab"),
                    )
                    .await;
                text("logged")
            }
            "confirm" => {
                let modern = cx.protocol_version().is_some_and(|v| v.as_str() >= "2026-07-28");
                if !modern {
                    let r = cx
                        .peer
                        .create_elicitation(question(&str_arg("question")?))
                        .await
                        .map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
                    text(format!("{} {}", json!(r.action).as_str().unwrap_or("?"), json!(r.content)))
                } else if let Some(got) = req.input_responses.as_ref().and_then(|r| r.get("ok")) {
                    let got = json!(got);
                    text(format!(
                        "{} {} state={}",
                        got["action"].as_str().unwrap_or("?"),
                        got["content"],
                        req.request_state.unwrap_or_default()
                    ))
                } else {
                    let mut ask = InputRequests::new();
                    ask.insert(
                        "ok".into(),
                        InputRequest::Elicitation(ElicitRequest::new(question(&str_arg("question")?))),
                    );
                    InputRequiredResult::new(Some(ask), Some("lab-state-1".into())).into()
                }
            }
            "slow_task" => {
                let wait = Duration::from_millis(int_arg("ms")?.max(0) as u64);
                if cx.client_capabilities().is_some_and(|c| c.supports_tasks()) {
                    let task = self.tasks.spawn(TaskOptions::new().with_poll_interval_ms(100), move |tcx| {
                        Box::pin(async move {
                            tokio::select! {
                                _ = tcx.cancelled() => Err(TaskExit::Cancelled),
                                _ = tokio::time::sleep(wait) => Ok(CallToolResult::success(vec![ContentBlock::text("task done")])),
                            }
                        })
                    });
                    CreateTaskResult::new(task).into()
                } else {
                    tokio::time::sleep(wait).await;
                    text("done without a task")
                }
            }
            other => return Err(ErrorData::invalid_params(format!("Unknown tool: {other}"), None)),
        })
    }

    async fn get_task(&self, r: GetTaskParams, _: Cx) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&r.task_id)?))
    }

    async fn update_task(&self, r: UpdateTaskParams, _: Cx) -> Result<(), ErrorData> {
        self.tasks.update_task(&r.task_id, r.input_responses)
    }

    async fn cancel_task(&self, r: CancelTaskParams, _: Cx) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&r.task_id)
    }

    async fn list_resources(&self, _: Option<PaginatedRequestParams>, _: Cx) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("lab://greeting", "greeting")]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Cx,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![ResourceTemplate::new("lab://item/{id}", "item")]))
    }

    async fn read_resource(&self, r: ReadResourceRequestParams, _: Cx) -> Result<ReadResourceResponse, ErrorData> {
        let body = match r.uri.strip_prefix("lab://item/") {
            Some(id) => json!({"id": id}).to_string(),
            None if r.uri == "lab://greeting" => "hello from the lab".into(),
            None => {
                return Err(ErrorData::resource_not_found(
                    format!("Resource not found: {}", r.uri),
                    Some(json!({"uri": r.uri})),
                ))
            }
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(body, r.uri.clone())]).into())
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Cx) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Cx) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Cx) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, asked: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(asked.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        cx.cancelled().await;
        Ok(())
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: Cx) -> Result<ListPromptsResult, ErrorData> {
        let name = PromptArgument::new("name").with_required(true);
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("greet", Some("Greets somebody"), Some(vec![name]))]))
    }

    async fn get_prompt(&self, r: GetPromptRequestParams, _: Cx) -> Result<GetPromptResponse, ErrorData> {
        let name =
            r.arguments.as_ref().and_then(|a| a.get("name")).and_then(|v| v.as_str()).unwrap_or("nobody").to_owned();
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, format!("Hello, {name}!"))]).into())
    }

    async fn complete(&self, r: CompleteRequestParams, _: Cx) -> Result<CompleteResult, ErrorData> {
        let words: &[&str] =
            if r.argument.name == "name" { &["Alice", "Albert", "Bob"] } else { &["apple", "apricot", "pear"] };
        let found = words.iter().filter(|w| w.starts_with(&r.argument.value)).map(|w| w.to_string()).collect();
        Ok(CompleteResult::new(CompletionInfo::new(found).map_err(|e| ErrorData::internal_error(e, None))?))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let lab = Lab { tasks: TaskManager::new() };
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).map(String::as_str) == Some("--http") {
        let port: u16 = args.get(2).map(|p| p.parse()).transpose()?.unwrap_or(4112);
        let service = StreamableHttpService::new(
            move || Ok(lab.clone()),
            LocalSessionManager::default().into(),
            StreamableHttpServerConfig::default(),
        );
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
        axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    } else {
        lab.serve(rmcp::transport::stdio()).await?.waiting().await?;
    }
    Ok(())
}
