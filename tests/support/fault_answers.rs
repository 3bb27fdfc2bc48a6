//! The sane answers, shared by both transports: a server with the tools `echo`, `slow` and `fail`.

use serde_json::{Value, json};

/// The answer to a request; none for a notification or an answer.
pub(crate) fn answer(message: &Value) -> Option<Value> {
    let method = message.get("method")?.as_str()?;
    let id = message.get("id")?;
    let params = message.get("params").unwrap_or(&Value::Null);
    Some(match method {
        "initialize" => result(id, initialized(params)),
        "ping" => result(id, json!({})),
        "tools/list" => result(id, json!({ "tools": tools() })),
        "tools/call" => match params["name"].as_str() {
            Some("echo") => {
                let text = params["arguments"]["text"].as_str().unwrap_or_default();
                result(id, json!({ "content": [{ "type": "text", "text": text }] }))
            }
            Some("slow") => {
                let pause = params["arguments"]["delay_ms"].as_u64().unwrap_or(300);
                std::thread::sleep(std::time::Duration::from_millis(pause));
                result(id, text("done"))
            }
            Some("fail") => {
                result(id, json!({ "content": [{ "type": "text", "text": "failed on purpose" }], "isError": true }))
            }
            other => error(id, -32602, &format!("unknown tool {}", other.unwrap_or("without a name"))),
        },
        _ => error(id, -32601, "Method not found"),
    })
}

/// The answer of a server that speaks 2026-07-28 and nothing older.
pub(crate) fn modern_answer(message: &Value) -> Option<Value> {
    let method = message.get("method")?.as_str()?;
    let id = message.get("id")?;
    let server = json!({ "io.modelcontextprotocol/serverInfo": { "name": "fault-server", "version": "1.0.0" } });
    let asked = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    if asked != "2026-07-28" {
        let requested = if asked.is_null() { &message["params"]["protocolVersion"] } else { asked };
        let data = json!({ "supported": ["2026-07-28"], "requested": requested });
        return Some(
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32022, "message": "version not served", "data": data } }),
        );
    }
    let body = match method {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "ttlMs": 0, "cacheScope": "private", "_meta": server,
        }),
        "tools/list" => json!({
            "resultType": "complete", "tools": tools(), "ttlMs": 0, "cacheScope": "private", "_meta": server,
        }),
        "initialize" | "ping" => return Some(error(id, -32601, "Method not found")),
        _ => {
            let mut legacy = answer(message)?;
            if let Some(body) = legacy.get_mut("result") {
                body["resultType"] = json!("complete");
            }
            return Some(legacy);
        }
    };
    Some(result(id, body))
}

/// A tool result with one text.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A response with a result.
pub(crate) fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A response with an error.
pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// A log message, for modes that need one.
pub(crate) fn log(text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": text } })
}

fn initialized(params: &Value) -> Value {
    let known = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = if known.contains(&asked) { asked } else { "2025-11-25" };
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "fault-server", "version": "1.0.0" },
    })
}

fn tools() -> Value {
    json!([
        {
            "name": "echo", "description": "Gives the text back",
            "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
        },
        {
            "name": "slow", "description": "Answers after a pause",
            "inputSchema": { "type": "object", "properties": { "delay_ms": { "type": "integer" } } },
        },
        { "name": "fail", "description": "Fails", "inputSchema": { "type": "object" } },
    ])
}
