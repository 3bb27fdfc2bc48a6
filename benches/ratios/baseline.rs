//! A bare client loop: the same runtime, the same JSON features, a reader task with a table of waiting requests, the
//! same checks. No interpreter.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, Command};
use tokio::sync::oneshot;

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

const SCHEMA: &str = r#"{"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}}"#;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn message(id: u64, method: &str, params: Value) -> Vec<u8> {
    serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).expect("JSON")
}

fn initialize() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}})
}

fn check(validator: &jsonschema::Validator, answer: &Value, at: usize) {
    let result = &answer["result"];
    assert!(validator.is_valid(&result["structuredContent"]));
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("Result"));
    assert_eq!(text, format!("Result: {}", at + 1));
}

async fn request(stdin: &mut ChildStdin, waiting: &Waiting, id: u64, method: &str, params: Value) -> Value {
    let (sender, receiver) = oneshot::channel();
    waiting.lock().expect("the table").insert(id, sender);
    let mut bytes = message(id, method, params);
    bytes.push(b'\n');
    stdin.write_all(&bytes).await.expect("written");
    tokio::time::timeout(Duration::from_secs(30), receiver).await.expect("in time").expect("an answer")
}

/// `calls` calls and checks over stdio; the time without the start of the server.
pub fn stdio(calls: usize) -> Duration {
    runtime().block_on(async {
        let me = std::env::current_exe().expect("our own path");
        let mut child = Command::new(me)
            .arg("--serve-stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the server starts");
        let mut stdin = child.stdin.take().expect("stdin");
        let mut lines = BufReader::with_capacity(1 << 16, child.stdout.take().expect("stdout"));
        let waiting = Waiting::default();
        let table = waiting.clone();
        tokio::spawn(async move {
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line).await.unwrap_or(0) > 0 {
                let answer: Value = serde_json::from_slice(&line).expect("JSON");
                line.clear();
                let sender = answer["id"].as_u64().and_then(|id| table.lock().expect("the table").remove(&id));
                if let Some(sender) = sender {
                    let _ = sender.send(answer);
                }
            }
        });
        let validator = jsonschema::validator_for(&serde_json::from_str(SCHEMA).expect("JSON")).expect("a schema");
        request(&mut stdin, &waiting, 0, "initialize", initialize()).await;
        let started = Instant::now();
        for at in 0..calls {
            let params = json!({"name": "add", "arguments": {"a": at, "b": 1}, "_meta": {"progressToken": at + 1}});
            let answer = request(&mut stdin, &waiting, at as u64 + 1, "tools/call", params).await;
            check(&validator, &answer, at);
        }
        let time = started.elapsed();
        drop(stdin);
        let _ = child.wait().await;
        time
    })
}

/// The same over HTTP.
pub fn http(url: &str, calls: usize) -> Duration {
    runtime().block_on(async {
        let client =
            reqwest::Client::builder().no_proxy().tls_certs_only([]).tcp_nodelay(true).build().expect("a client");
        let post = async |id: u64, method: &str, params: Value| -> Value {
            let answer = client
                .post(url)
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2025-11-25")
                .body(message(id, method, params))
                .send();
            let answer =
                tokio::time::timeout(Duration::from_secs(30), answer).await.expect("in time").expect("an answer");
            serde_json::from_slice(&answer.bytes().await.expect("a body")).expect("JSON")
        };
        let validator = jsonschema::validator_for(&serde_json::from_str(SCHEMA).expect("JSON")).expect("a schema");
        post(0, "initialize", initialize()).await;
        let started = Instant::now();
        for at in 0..calls {
            let params = json!({"name": "add", "arguments": {"a": at, "b": 1}, "_meta": {"progressToken": at + 1}});
            let answer = post(at as u64 + 1, "tools/call", params).await;
            check(&validator, &answer, at);
        }
        started.elapsed()
    })
}
