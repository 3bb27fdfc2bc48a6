//! Log messages. The feature is deprecated in 2026-07-28 but every revision still has it.
#![expect(deprecated, reason = "the SDK marks logging as deprecated; a demo of all revisions still needs it")]

use std::sync::atomic::Ordering;

use rmcp::handler::server::common::schema_for_type;
use rmcp::model::{ErrorData, LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, model::SetLevelRequestParams};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::server::Demo;
use super::tool::{Call, Entry, Reply, is_modern, text};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Log {
    /// Severity of the message.
    level: Severity,
    /// The message.
    text: String,
}

/// The eight levels, mildest first, so that their order is the threshold's order.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
enum Severity {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl From<LoggingLevel> for Severity {
    fn from(level: LoggingLevel) -> Self {
        match level {
            LoggingLevel::Debug => Self::Debug,
            LoggingLevel::Info => Self::Info,
            LoggingLevel::Notice => Self::Notice,
            LoggingLevel::Warning => Self::Warning,
            LoggingLevel::Error => Self::Error,
            LoggingLevel::Critical => Self::Critical,
            LoggingLevel::Alert => Self::Alert,
            LoggingLevel::Emergency => Self::Emergency,
        }
    }
}

impl From<Severity> for LoggingLevel {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Debug => Self::Debug,
            Severity::Info => Self::Info,
            Severity::Notice => Self::Notice,
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Error,
            Severity::Critical => Self::Critical,
            Severity::Alert => Self::Alert,
            Severity::Emergency => Self::Emergency,
        }
    }
}

pub(super) fn tools() -> Vec<Entry> {
    vec![
        Entry::later("log", "Sends one log message, if the client wants messages of that level.", schema(), |call| {
            Box::pin(log(call))
        })
        .read_only(),
    ]
}

fn schema() -> serde_json::Value {
    json!(schema_for_type::<Log>().as_ref())
}

async fn log(call: Call) -> Reply {
    let args: Log = call.typed()?;
    if !wanted(&call.cx, &call.demo, args.level) {
        return Ok(text("Not sent: below the level the client asked for"));
    }
    let message = LoggingMessageNotificationParam::new(args.level.into(), json!(args.text)).with_logger("demo");
    match call.cx.peer.notify_logging_message(message).await {
        Ok(()) => Ok(text("Sent")),
        Err(error) => Err(ErrorData::internal_error(format!("cannot send the message: {error}"), None)),
    }
}

/// A stateless request names its own level and gets nothing without one; a connection of the handshake era has the level
/// it set, and everything before it set one.
fn wanted(cx: &RequestContext<RoleServer>, demo: &Demo, severity: Severity) -> bool {
    let threshold = if is_modern(cx) {
        match cx.meta.log_level() {
            Some(level) => Severity::from(level) as u8,
            None => return false,
        }
    } else {
        demo.level.load(Ordering::Relaxed)
    };
    severity as u8 >= threshold
}

/// `logging/setLevel` of the handshake era.
pub(super) fn set_level(demo: &Demo, params: &SetLevelRequestParams) {
    demo.level.store(Severity::from(params.level) as u8, Ordering::Relaxed);
}
