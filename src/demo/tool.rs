//! How a tool of the demo server is described and called: one table from which `tools/list`, the argument check and
//! `tools/call` are answered.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, OnceLock};

use jsonschema::Validator;
use rmcp::RoleServer;
use rmcp::handler::server::common::schema_for_type;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputResponses, JsonObject, ProtocolVersion, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::server::Demo;
use super::{
    tools_ask, tools_basic, tools_content, tools_flow, tools_log, tools_output, tools_tasks, tools_users, tools_zoo,
};

/// At most so many faults of an argument object are named in one answer.
const MAX_FAULTS: usize = 5;
/// A fault quotes the value; beyond this many characters it is cut.
const MAX_FAULT_CHARS: usize = 300;

/// What a tool answers: a result (with or without `isError`), a question to the client, or a protocol error.
pub(super) type Reply = Result<CallToolResponse, ErrorData>;
/// A reply that has to wait for something.
pub(super) type Waiting = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// One call on its way to a tool.
pub(super) struct Call {
    /// Arguments as they came, already checked against the input schema.
    pub args: JsonObject,
    /// Answers to the questions of an earlier round (2026-07-28, multi round-trip requests).
    pub input_responses: Option<InputResponses>,
    /// State of that round, as the client handed it back.
    pub request_state: Option<String>,
    /// The request: metadata, cancellation, the way back to the client.
    pub cx: RequestContext<RoleServer>,
    /// The server and its state.
    pub demo: Demo,
}

impl Call {
    /// The arguments as a typed struct.
    ///
    /// The schema was generated from the same struct, so a failure here means that the two disagree.
    pub(super) fn typed<T: DeserializeOwned>(&self) -> Result<T, ErrorData> {
        serde_json::from_value(Value::Object(self.args.clone()))
            .map_err(|error| ErrorData::invalid_params(format!("arguments do not fit: {error}"), None))
    }

    /// A string argument, or an empty text when it was left out.
    pub(super) fn text(&self, name: &str) -> &str {
        self.args.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A whole number that is not negative, or `default` when it was left out.
    pub(super) fn whole(&self, name: &str, default: u64) -> u64 {
        let Some(Value::Number(number)) = self.args.get(name) else { return default };
        // A schema's `integer` includes 3.0; the schema's bounds keep the value far below 2^53.
        number.as_u64().or_else(|| number.as_f64().map(|value| value as u64)).unwrap_or(default)
    }

    /// The revision this request is answered under; the newest of the handshake era when it names none.
    pub(super) fn revision(&self) -> ProtocolVersion {
        revision(&self.cx)
    }
}

/// The revision a request is answered under.
pub(super) fn revision(cx: &RequestContext<RoleServer>) -> ProtocolVersion {
    cx.protocol_version().unwrap_or(ProtocolVersion::V_2025_11_25)
}

/// Whether a request is of the stateless era.
pub(super) fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
    revision(cx) >= ProtocolVersion::V_2026_07_28
}

enum Run {
    Now(fn(Call) -> Reply),
    Later(fn(Call) -> Waiting),
}

/// A tool: what the list says about it and what it does.
pub(super) struct Entry {
    /// As listed.
    pub tool: Tool,
    run: Run,
    validator: OnceLock<Option<Validator>>,
}

impl Entry {
    /// A tool that answers at once; `schema` is its input schema.
    pub(super) fn now(name: &'static str, about: &'static str, schema: Value, run: fn(Call) -> Reply) -> Self {
        Self::new(name, about, Arc::new(object(schema)), Run::Now(run))
    }

    /// A tool that waits; `schema` is its input schema.
    pub(super) fn later(name: &'static str, about: &'static str, schema: Value, run: fn(Call) -> Waiting) -> Self {
        Self::new(name, about, Arc::new(object(schema)), Run::Later(run))
    }

    /// A tool that answers at once and whose input schema is that of a struct.
    pub(super) fn typed<T: JsonSchema + 'static>(
        name: &'static str,
        about: &'static str,
        run: fn(Call) -> Reply,
    ) -> Self {
        Self::new(name, about, schema_for_type::<T>(), Run::Now(run))
    }

    fn new(name: &'static str, about: &'static str, schema: Arc<JsonObject>, run: Run) -> Self {
        Self { tool: Tool::new(name, about, schema), run, validator: OnceLock::new() }
    }

    /// Adds the output schema of a struct.
    pub(super) fn returns<T: JsonSchema + 'static>(mut self) -> Self {
        self.tool = self.tool.with_output_schema::<T>();
        self
    }

    /// Adds an output schema written by hand.
    pub(super) fn returns_raw(mut self, schema: Value) -> Self {
        self.tool = self.tool.with_raw_output_schema(Arc::new(object(schema)));
        self
    }

    /// Adds a title for people.
    pub(super) fn titled(mut self, title: &'static str) -> Self {
        self.tool = self.tool.with_title(title);
        self
    }

    /// Says that the tool changes nothing and reaches nothing outside.
    pub(super) fn read_only(self) -> Self {
        self.hints(ToolAnnotations::new().read_only(true).open_world(false))
    }

    /// Adds behaviour hints.
    pub(super) fn hints(mut self, hints: ToolAnnotations) -> Self {
        self.tool = self.tool.with_annotations(hints);
        self
    }

    /// Checks the arguments and runs the tool.
    pub(super) async fn call(&self, call: Call) -> Reply {
        if let Some(faults) = self.faults(&call.args) {
            return Ok(failure(faults));
        }
        match &self.run {
            Run::Now(run) => run(call),
            Run::Later(run) => run(call).await,
        }
    }

    /// What is wrong with the arguments, for the caller to read.
    fn faults(&self, args: &JsonObject) -> Option<String> {
        let validator = self.validator.get_or_init(|| {
            // A schema of ours that does not compile is caught by a test; here it only means "unchecked".
            jsonschema::options().offline().build(&self.tool.schema_as_json_value()).ok()
        });
        let args = Value::Object(args.clone());
        let mut faults = validator.as_ref()?.iter_errors(&args).peekable();
        faults.peek()?;
        let mut text = format!("Invalid arguments for {}:", self.tool.name);
        for fault in faults.take(MAX_FAULTS) {
            let place = fault.instance_path().to_string();
            let place = if place.is_empty() { "arguments" } else { place.as_str() };
            let message: String = fault.to_string().chars().take(MAX_FAULT_CHARS).collect();
            let _infallible = write!(text, "\n{place}: {message}");
        }
        Some(text)
    }
}

static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let families = [
        tools_users::tools(),
        tools_basic::tools(),
        tools_zoo::tools(),
        tools_content::tools(),
        tools_output::tools(),
        tools_flow::tools(),
        tools_log::tools(),
        tools_ask::tools(),
        tools_tasks::tools(),
    ];
    families.into_iter().flatten().collect()
});

/// All tools in the order they are listed.
pub(super) fn table() -> &'static [Entry] {
    &TABLE
}

/// The tool with this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.tool.name == name)
}

/// A JSON object literal as the map the SDK wants.
pub(super) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    }
}

/// A successful result with one text.
pub(super) fn text(text: impl Into<String>) -> CallToolResponse {
    blocks(vec![ContentBlock::text(text)])
}

/// A successful result with this content.
pub(super) fn blocks(content: Vec<ContentBlock>) -> CallToolResponse {
    CallToolResult::success(content).into()
}

/// A result with `isError: true`.
pub(super) fn failure(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

/// A successful result with a text for people and structured content for machines.
pub(super) fn structured(text: impl Into<String>, value: &impl Serialize) -> Reply {
    let value = serde_json::to_value(value)
        .map_err(|error| ErrorData::internal_error(format!("cannot write the result: {error}"), None))?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value);
    Ok(result.into())
}
