//! Long work that becomes a task for clients that declared the tasks extension (`io.modelcontextprotocol/tasks`, for
//! 2026-07-28); for all others the call waits until the work is done.

use std::time::Duration;

use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, ElicitRequest, ErrorData, InputRequest,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskOptions};
use serde_json::{Value, json};

use super::tool::{Call, Entry, Reply, failure, is_modern, text};
use super::tools_ask::{Asked, Question, form};

/// Suggested to clients; short, because scripts wait for it.
const POLL_MS: u64 = 100;
/// Most unfinished tasks of the process.
const MAX_RUNNING: usize = 1000;
/// Longest job; the SDK gives a task five minutes.
const MAX_SECONDS: u32 = 240;

pub(super) fn tools() -> Vec<Entry> {
    let seconds = || {
        json!({"type": "object", "additionalProperties": false, "required": ["seconds"], "properties":
            {"seconds": {"type": "number", "minimum": 0, "maximum": MAX_SECONDS, "description": "How long it takes."}}})
    };
    vec![
        Entry::later("long_job", "Works for some seconds; a task where the client can take one.", seconds(), |call| {
            Box::pin(run(call, Ending::Done))
        })
        .titled("Long job")
        .read_only(),
        Entry::later("long_failure", "Works for some seconds and ends with a JSON-RPC error.", seconds(), |call| {
            Box::pin(run(call, Ending::Failed))
        })
        .read_only(),
        Entry::later("long_question", "Works for some seconds, then asks the user how to go on.", seconds(), |call| {
            Box::pin(run(call, Ending::Asks))
        })
        .read_only(),
    ]
}

#[derive(Clone, Copy)]
enum Ending {
    Done,
    Failed,
    Asks,
}

async fn run(call: Call, ending: Ending) -> Reply {
    let seconds = call.args.get("seconds").and_then(Value::as_f64).unwrap_or_default();
    let work = Duration::from_secs_f64(seconds.clamp(0.0, f64::from(MAX_SECONDS)));
    let can_take_task = call.cx.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    if !(is_modern(&call.cx) && can_take_task) {
        return wait(call, work, ending).await;
    }
    let tasks = &call.demo.shared.tasks;
    if tasks.running_task_count() >= MAX_RUNNING {
        return Ok(failure("Too many tasks are running"));
    }
    let options = TaskOptions::new().with_poll_interval_ms(POLL_MS).with_status_message("working");
    let task = tasks.spawn(options, move |task| -> TaskFuture { Box::pin(in_background(task, work, ending)) });
    Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
}

async fn in_background(task: TaskContext, work: Duration, ending: Ending) -> Result<CallToolResult, TaskExit> {
    tokio::select! {
        () = tokio::time::sleep(work) => {}
        () = task.cancelled() => return Err(TaskExit::Cancelled),
    }
    match ending {
        Ending::Done => Ok(CallToolResult::success(vec![ContentBlock::text(done(work))])),
        Ending::Failed => Err(failed().into()),
        Ending::Asks => {
            let (message, schema) = question();
            let request = InputRequest::Elicitation(ElicitRequest::new(form(message, schema)?));
            let answer = task.request_input("question", request).await?;
            Ok(CallToolResult::success(vec![ContentBlock::text(answered(&answer))]))
        }
    }
}

/// The same work within the call.
async fn wait(mut call: Call, work: Duration, ending: Ending) -> Reply {
    let mut closing = call.demo.closing.clone();
    // An answer that is already there belongs to a second round: the work was done in the first.
    let work_left = if call.input_responses.is_some() { Duration::ZERO } else { work };
    tokio::select! {
        () = tokio::time::sleep(work_left) => {}
        () = call.cx.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        _ = closing.wait_for(|closed| *closed) => return Err(ErrorData::internal_error("the client left", None)),
    }
    match ending {
        Ending::Done => Ok(text(done(work))),
        Ending::Failed => Err(failed()),
        Ending::Asks => {
            let (message, schema) = question();
            match call.ask(Question::Form { message, schema }, "long_question").await {
                Asked::Answer(answer) => Ok(text(answered(&answer))),
                Asked::Return(reply) => reply,
            }
        }
    }
}

fn done(work: Duration) -> String {
    format!("Done after {} seconds", work.as_secs_f64())
}

fn failed() -> ErrorData {
    ErrorData::internal_error("The job failed, as asked", None)
}

fn question() -> (String, Value) {
    let schema = json!({"type": "object", "required": ["goOn"], "properties":
        {"goOn": {"type": "boolean", "title": "Go on?"}}});
    ("The first half is done. Go on with the job?".to_owned(), schema)
}

fn answered(answer: &Value) -> String {
    match (answer["action"].as_str(), &answer["content"]["goOn"]) {
        (Some("accept"), Value::Bool(true)) => "Went on and finished".to_owned(),
        (Some(action), _) => format!("Stopped half-way ({action})"),
        (None, _) => "Stopped half-way (no answer)".to_owned(),
    }
}
