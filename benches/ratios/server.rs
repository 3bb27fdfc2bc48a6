//! The fastest server there can be: a blocking loop that reads, answers and writes. Both sides are measured against it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

fn answer(line: &[u8]) -> Option<Vec<u8>> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let id = message.get("id")?.clone();
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{
            "name": "add",
            "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
            "outputSchema": {"type": "object", "required": ["sum"], "properties": {"sum": {"type": "integer"}}},
        }]}),
        "tools/call" => {
            let number = |name: &str| message["params"]["arguments"][name].as_i64().unwrap_or_default();
            let sum = number("a") + number("b");
            json!({"content": [{"type": "text", "text": format!("Result: {sum}")}], "structuredContent": {"sum": sum}})
        }
        _ => json!({}),
    };
    serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": id, "result": result})).ok()
}

/// Serves one client on stdin and stdout.
pub fn stdio() {
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(mut bytes) = answer(&line) {
            bytes.push(b'\n');
            if output.write_all(&bytes).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    }
}

/// Serves HTTP clients on a free port, which it prints.
pub fn http() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("an address").port());
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve(stream));
    }
}

fn serve(stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let Ok(mut output) = stream.try_clone() else { return };
    let mut input = BufReader::with_capacity(1 << 16, stream);
    let mut line = String::new();
    loop {
        let (mut length, mut post, mut first) = (0, false, true);
        loop {
            line.clear();
            if input.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if first {
                post = line.starts_with("POST");
                first = false;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if input.read_exact(&mut body).is_err() {
            return;
        }
        let reply = match (post, answer(&body)) {
            (true, Some(json)) => {
                let mut reply = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    json.len()
                )
                .into_bytes();
                reply.extend(json);
                reply
            }
            (true, None) => b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec(),
            (false, _) => b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_vec(),
        };
        if output.write_all(&reply).is_err() {
            return;
        }
    }
}

/// The HTTP server as a process of its own.
pub struct HttpServer {
    child: Child,
    /// Its address.
    pub url: String,
}

impl HttpServer {
    /// Starts it on a free port.
    pub fn start() -> Self {
        let me = std::env::current_exe().expect("our own path");
        let mut child = Command::new(me).arg("--serve-http").stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("its stdout")).read_line(&mut port).expect("a port");
        Self { child, url: format!("http://127.0.0.1:{}/mcp", port.trim()) }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
