//! Tools that take time or use more than the result: progress, cancellation, headers, announcements of changes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::{ErrorData, ProgressNotificationParam, ToolAnnotations};
use serde_json::json;

use super::resources;
use super::state::Change;
use super::tool::{Call, Entry, Reply, failure, structured, text};

/// Time before a change is announced, so that a subscription that was acknowledged just now hears of it.
const ANNOUNCE_AFTER: Duration = Duration::from_millis(10);

pub(super) fn tools() -> Vec<Entry> {
    let slow = json!({"type": "object", "additionalProperties": false, "required": ["steps", "delay_ms"], "properties": {
        "steps": {"type": "integer", "minimum": 0, "maximum": 10000, "description": "Number of steps."},
        "delay_ms": {"type": "integer", "minimum": 0, "maximum": 600_000, "description": "Time of one step in milliseconds."}}});
    let header = json!({"type": "object", "additionalProperties": false, "required": ["region"], "properties": {
        "region": {"type": "string", "x-mcp-header": "Region", "description": "Also sent as the header Mcp-Param-Region."}}});
    let echoed = json!({"type": "object", "required": ["region", "header"],
        "properties": {"region": {"type": "string"}, "header": {"type": ["string", "null"]}}});
    let touch = json!({"type": "object", "additionalProperties": false, "required": ["uri"], "properties":
        {"uri": {"type": "string", "description": "A resource of this server."}}});
    let announce = json!({"type": "object", "additionalProperties": false, "required": ["list"], "properties":
        {"list": {"type": "string", "enum": ["tools", "prompts", "resources"], "description": "Which list."}}});
    let quiet = || ToolAnnotations::new().read_only(false).destructive(false).idempotent(true);
    vec![
        Entry::later("slow", "Takes its steps one by one and reports progress to those who ask.", slow, |call| {
            Box::pin(run_slow(call))
        })
        .read_only(),
        Entry::now("header_echo", "Returns its argument and the header it arrived in.", header, header_echo)
            .read_only()
            .returns_raw(echoed),
        Entry::later("touch", "Tells subscribers that a resource has changed.", touch, |call| {
            Box::pin(run_touch(call))
        })
        .hints(quiet()),
        Entry::later("announce", "Tells subscribers that a list has changed (it has not).", announce, |call| {
            Box::pin(run_announce(call))
        })
        .hints(quiet()),
    ]
}

async fn run_slow(call: Call) -> Reply {
    let steps = call.whole("steps", 0);
    let delay = Duration::from_millis(call.whole("delay_ms", 0));
    let token = call.cx.meta.get_progress_token();
    let mut closing = call.demo.closing.clone();
    for step in 1..=steps {
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            // The SDK sends nothing in answer to a cancelled request; the error only ends the work.
            () = call.cx.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            _ = closing.wait_for(|closed| *closed) => return Err(ErrorData::internal_error("the client left", None)),
        }
        if let Some(token) = &token {
            let progress = ProgressNotificationParam::new(token.clone(), step as f64)
                .with_total(steps as f64)
                .with_message(format!("step {step} of {steps}"));
            // Whoever cannot be told of the progress will not get the result either.
            let _gone = call.cx.peer.notify_progress(progress).await;
        }
    }
    Ok(text(format!("Done after {steps} steps")))
}

fn header_echo(call: Call) -> Reply {
    let region = call.text("region");
    let header = call
        .cx
        .extensions
        .get::<Parts>()
        .and_then(|parts| parts.headers.get("mcp-param-region"))
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let shown = header.as_deref().unwrap_or("none");
    structured(format!("region {region}, header {shown}"), &json!({"region": region, "header": header}))
}

async fn run_touch(call: Call) -> Reply {
    let uri = call.text("uri").to_owned();
    if !resources::exists(&uri, &call.demo.shared) {
        return Ok(failure(format!("There is no resource {uri}")));
    }
    call.demo.shared.touches.fetch_add(1, Ordering::Relaxed);
    tokio::time::sleep(ANNOUNCE_AFTER).await;
    call.demo.shared.announce(Change::Updated(uri.clone()));
    Ok(text(format!("Touched {uri}")))
}

async fn run_announce(call: Call) -> Reply {
    let list = call.text("list");
    let change = match list {
        "tools" => Change::Tools,
        "prompts" => Change::Prompts,
        _ => Change::Resources,
    };
    tokio::time::sleep(ANNOUNCE_AFTER).await;
    call.demo.shared.announce(change);
    Ok(text(format!("Announced {list}")))
}
