//! A client of a few lines: writes JSON lines to the demo server through an in-memory pipe and reads the answers.

use std::time::Duration;

use mcp_script::demo;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub const HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub const MODERN: &str = "2026-07-28";
const PATIENCE: Duration = Duration::from_secs(20);

/// One connection and everything that arrived besides the answers waited for.
pub struct Wire {
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<Result<(), demo::DemoError>>,
    next_id: u64,
    pub modern: bool,
    /// Declared by every request of the stateless era.
    pub capabilities: Value,
    /// Added to the `_meta` of every request.
    pub meta: Value,
    /// Notifications and server requests in the order they arrived.
    pub inbox: Vec<Value>,
}

impl Wire {
    /// A connection on which nothing was said.
    pub fn raw() -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let server = tokio::spawn(demo::serve_pipe(read, write));
        let (read, write) = tokio::io::split(ours);
        Self {
            write,
            lines: BufReader::new(read).lines(),
            server,
            next_id: 1,
            modern: false,
            capabilities: json!({}),
            meta: json!({}),
            inbox: Vec::new(),
        }
    }

    /// A connection of the handshake era, ready for requests.
    pub async fn handshake(revision: &str, capabilities: Value) -> Self {
        let mut wire = Self::raw();
        let params = json!({"protocolVersion": revision, "capabilities": capabilities,
            "clientInfo": {"name": "raw", "version": "1"}});
        let answer = wire.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        wire
    }

    /// A connection of the stateless era.
    pub fn modern(capabilities: Value) -> Self {
        let mut wire = Self::raw();
        wire.modern = true;
        wire.capabilities = capabilities;
        wire
    }

    /// One connection for each era.
    pub async fn both() -> [Self; 2] {
        [Self::handshake("2025-11-25", json!({})).await, Self::modern(json!({}))]
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub async fn send_text(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next message of any kind.
    pub async fn receive(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("an answer in time").unwrap();
        serde_json::from_str(&line.expect("the server is still there")).unwrap()
    }

    /// The parameters with what the era and the test add to `_meta`.
    pub fn dress(&self, mut params: Value) -> Value {
        let mut meta = self.meta.clone();
        if self.modern {
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "raw", "version": "1"});
        }
        if meta.as_object().is_some_and(|meta| !meta.is_empty()) {
            params["_meta"] = meta;
        }
        params
    }

    /// Sends a request and returns its id.
    pub async fn start(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let params = self.dress(params);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Waits for the answer to a request; everything else goes to the inbox.
    pub async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.inbox.push(message);
        }
    }

    /// A request and its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    /// The result of a tool call that is no protocol error.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// Waits for a notification that has not been taken yet.
    pub async fn notification(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.inbox.iter().position(|message| message["method"] == method) {
                return self.inbox.remove(at);
            }
            let message = self.receive().await;
            self.inbox.push(message);
        }
    }

    /// Closes the input and waits for the server to end by itself.
    pub async fn close(mut self) {
        self.write.shutdown().await.unwrap();
        timeout(PATIENCE, self.server).await.expect("the server ends").unwrap().unwrap();
    }
}

/// The text of the first content block.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}

/// Asserts a tool error and returns its text.
pub fn tool_error(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    text(result)
}
