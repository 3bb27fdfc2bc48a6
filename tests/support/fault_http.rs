//! The faults over HTTP, byte by byte. See [`run`] for the modes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::fault_answers::{answer, modern_answer, result, text};

/// Serves for ever, on a free port of the loopback; the first line on stdout is `listening on PORT`. False for an
/// unknown mode. With `+log` after the mode every request is printed as a line of JSON.
///
/// Sane: `sane` (JSON), `sane-sse`, `session` (a session that must be named, ended by DELETE), `session-no-delete`,
/// `modern-only`, `slow`.
/// Instead of an answer: `refuses`, `html`, `html-200`, `unauthorized`, `forbidden`, `not-found`, `error-500`,
/// `redirect`, `closes-at-once`, `closes-early`, `no-http`, `bad-status-line`, `header-flood`, `accepted`, `empty-200`,
/// `session-lost` (404 for the third request), `error-json-rpc` (400 as text/plain with a JSON-RPC error).
/// Bodies: `invalid-json`, `wrong-content-type`, `no-content-type`, `charset`, `not-acceptable` (406 unless both types
/// are accepted), `length-lie`, `length-short`, `chunked`, `chunked-broken`, `chunked-cut`, `huge-body`, `gzip`.
/// Notifications: `notification-200` (body `null`), `notification-500`.
/// Streams: `sse-half-event`, `sse-no-answer`, `sse-never`, `sse-comments`, `sse-types`, `sse-cr`, `sse-crlf-bom`,
/// `sse-stays-open`, `sse-huge`, `sse-asks-ping`.
/// Resumption: `resume`, `resume-poll` (the first GET brings only an id), `resume-refused`.
/// HTTP+SSE of 2024-11-05: `old-sse`, `old-sse-foreign` (an endpoint elsewhere), `old-sse-closes` (ends in a call).
/// Standing stream: `listen`, `listen-closes`, `listen-500`, `listen-roots` (asks there, and waits for the answer).
pub(crate) fn run(mode: &str, number: Option<usize>) -> bool {
    let (mode, logged) = mode.strip_suffix("+log").map_or((mode, false), |mode| (mode, true));
    if !MODES.contains(&mode) {
        return false;
    }
    let listener = match TcpListener::bind("127.0.0.1:0") {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("cannot listen: {error}");
            std::process::exit(1);
        }
    };
    let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
    let server = Arc::new(Server { mode: mode.to_owned(), number, logged, state: Mutex::default() });
    if mode == "refuses" {
        drop(listener);
        println!("listening on {port}");
        sleep(Duration::from_secs(1000));
        return true;
    }
    println!("listening on {port}");
    for stream in listener.incoming().filter_map(Result::ok) {
        let server = Arc::clone(&server);
        std::thread::spawn(move || server.connection(stream));
    }
    true
}

const MODES: &[&str] = &[
    "sane",
    "sane-sse",
    "session",
    "session-no-delete",
    "modern-only",
    "slow",
    "refuses",
    "html",
    "html-200",
    "unauthorized",
    "forbidden",
    "not-found",
    "error-500",
    "redirect",
    "closes-at-once",
    "closes-early",
    "no-http",
    "bad-status-line",
    "header-flood",
    "accepted",
    "empty-200",
    "session-lost",
    "error-json-rpc",
    "invalid-json",
    "wrong-content-type",
    "no-content-type",
    "charset",
    "not-acceptable",
    "length-lie",
    "length-short",
    "chunked",
    "chunked-broken",
    "chunked-cut",
    "huge-body",
    "gzip",
    "notification-200",
    "notification-500",
    "sse-half-event",
    "sse-no-answer",
    "sse-never",
    "sse-comments",
    "sse-types",
    "sse-cr",
    "sse-crlf-bom",
    "sse-stays-open",
    "sse-huge",
    "sse-asks-ping",
    "resume",
    "resume-poll",
    "resume-refused",
    "listen",
    "listen-closes",
    "listen-500",
    "listen-roots",
    "old-sse",
    "old-sse-foreign",
    "old-sse-closes",
];

pub(crate) struct Server {
    pub(crate) mode: String,
    pub(crate) number: Option<usize>,
    logged: bool,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) requests: usize,
    pub(crate) gets: usize,
    /// The answer to the request whose stream was cut.
    pub(crate) held: Option<Value>,
    /// What the client answered to a request of ours.
    pub(crate) told: Option<Value>,
    /// What is to go out on the old event stream.
    pub(crate) queue: Vec<Value>,
}

pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Map<String, Value>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

pub(crate) type Outcome = std::io::Result<()>;

impl Server {
    fn connection(&self, stream: TcpStream) {
        if self.mode == "closes-at-once" {
            return;
        }
        let Ok(mut out) = stream.try_clone() else { return };
        let mut input = BufReader::new(stream);
        while let Some(request) = read_request(&mut input) {
            if self.logged {
                let body = String::from_utf8_lossy(&request.body);
                println!(
                    "{}",
                    json!({ "method": request.method, "path": request.path, "headers": request.headers, "body": body })
                );
            }
            if self.serve(&request, &mut out).is_err() {
                return;
            }
        }
    }

    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error ends the connection, wanted or not.
    fn serve(&self, request: &Request, out: &mut TcpStream) -> Outcome {
        let page = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>A page</body></html>";
        match self.mode.as_str() {
            "html" => return whole(out, "404 Not Found", "text/html", page),
            "html-200" => return whole(out, "200 OK", "text/html; charset=utf-8", page),
            "unauthorized" => {
                let challenge = "WWW-Authenticate: Bearer resource_metadata=\"http://127.0.0.1/meta\"\r\n";
                let body = r#"{"error":"invalid_token","error_description":"no token"}"#;
                return whole_with(out, "401 Unauthorized", "application/json", challenge, body.as_bytes());
            }
            "forbidden" => return whole(out, "403 Forbidden", "text/plain", "go away"),
            "not-found" => return whole(out, "404 Not Found", "text/plain", ""),
            "error-500" => return whole(out, "500 Internal Server Error", "text/plain", "Internal Server Error"),
            "redirect" => {
                return whole_with(out, "307 Temporary Redirect", "text/plain", "Location: /mcp/\r\n", b"");
            }
            "closes-early" => return Err(std::io::ErrorKind::Other.into()),
            "no-http" => return cut(out, b"220 mail.example.com ESMTP ready\r\n"),
            "bad-status-line" => return cut(out, b"HTTP/1.1 banana\r\n\r\n"),
            "header-flood" => {
                let flood = format!("X-Flood: {}\r\n", "x".repeat(1000)).repeat(2000);
                return whole_with(out, "200 OK", "application/json", &flood, b"{}");
            }
            _ => {}
        }
        match request.method.as_str() {
            "POST" => self.post(request, out),
            "GET" => self.get(request, out),
            "DELETE" if self.mode == "session" => whole(out, "200 OK", "text/plain", ""),
            _ => whole(out, "405 Method Not Allowed", "text/plain", ""),
        }
    }

    fn post(&self, request: &Request, out: &mut TcpStream) -> Outcome {
        if self.mode.starts_with("old-sse") {
            return self.old_post(request, out);
        }
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
            return whole(out, "400 Bad Request", "application/json", error);
        };
        let method = message["method"].as_str().unwrap_or_default();
        let count = {
            let mut state = self.state();
            state.requests += 1;
            if method.is_empty() {
                state.told = Some(message.clone());
            }
            state.requests
        };
        if message.get("id").is_none() || method.is_empty() {
            return match self.mode.as_str() {
                "notification-200" => whole(out, "200 OK", "application/json", "null"),
                "notification-500" => whole(out, "500 Internal Server Error", "text/plain", "oops"),
                _ => whole(out, "202 Accepted", "text/plain", ""),
            };
        }
        let session = self.mode.starts_with("session");
        if session && method == "initialize" {
            let body = answer(&message).unwrap_or_default().to_string();
            return whole_with(
                out,
                "200 OK",
                "application/json",
                "Mcp-Session-Id: fault-session-1\r\n",
                body.as_bytes(),
            );
        }
        if session && request.header("mcp-session-id") != "fault-session-1" {
            return whole(out, "400 Bad Request", "text/plain", "Missing session ID");
        }
        if self.mode == "session-lost" && count >= 3 {
            return whole(out, "404 Not Found", "text/plain", "Session not found");
        }
        let modern = self.mode == "modern-only";
        let reply = if modern { modern_answer(&message) } else { answer(&message) }.unwrap_or_default();
        if modern {
            let status = match reply["error"]["code"].as_i64() {
                Some(-32601) => "404 Not Found",
                Some(-32022 | -32602) => "400 Bad Request",
                _ => "200 OK",
            };
            return whole(out, status, "application/json", &reply.to_string());
        }
        // A client that does not get past the handshake sees no fault behind it.
        if method == "initialize" && !matches!(self.mode.as_str(), "error-json-rpc" | "not-acceptable") {
            return whole(out, "200 OK", "application/json", &reply.to_string());
        }
        match self.mode.starts_with("sse-") || self.mode.starts_with("resume") || self.mode == "sane-sse" {
            true => self.stream(&message, &reply, out),
            false => self.body(request, &message, reply, out),
        }
    }

    fn body(&self, request: &Request, message: &Value, reply: Value, out: &mut TcpStream) -> Outcome {
        let whole_text = reply.to_string();
        let json = "application/json";
        match self.mode.as_str() {
            "slow" => sleep(Duration::from_millis(self.number.unwrap_or(300) as u64)),
            "accepted" => return whole(out, "202 Accepted", "text/plain", ""),
            "empty-200" => return whole(out, "200 OK", json, ""),
            "error-json-rpc" => {
                let error =
                    json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32000, "message": "no" } });
                return whole(out, "400 Bad Request", "text/plain", &error.to_string());
            }
            "invalid-json" => return whole(out, "200 OK", json, &whole_text[..whole_text.len() - 2]),
            "wrong-content-type" => return whole(out, "200 OK", "text/plain", &whole_text),
            "no-content-type" => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", whole_text.len());
                return out.write_all((head + &whole_text).as_bytes());
            }
            "charset" => return whole(out, "200 OK", "Application/JSON;charset=utf-8", &whole_text),
            "not-acceptable" => {
                let accept = request.header("accept");
                if !(accept.contains("application/json") && accept.contains("text/event-stream")) {
                    return whole(out, "406 Not Acceptable", "text/plain", "Client must accept both types");
                }
            }
            "length-lie" => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {json}\r\nContent-Length: 100000\r\n\r\n");
                return cut(out, (head + &whole_text).as_bytes());
            }
            "length-short" => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {json}\r\nContent-Length: 20\r\n\r\n");
                return cut(out, (head + &whole_text).as_bytes());
            }
            "chunked" | "chunked-cut" | "chunked-broken" => return self.chunked(&whole_text, out),
            "huge-body" => {
                let reply = result(&message["id"], text(&"x".repeat(self.number.unwrap_or(1 << 20))));
                return whole(out, "200 OK", json, &reply.to_string());
            }
            "gzip" => {
                let body = gzip(whole_text.as_bytes());
                return whole_with(out, "200 OK", json, "Content-Encoding: gzip\r\n", &body);
            }
            "listen-roots" => {
                let told = self.wait_for(|state| state.told.clone());
                return whole(out, "200 OK", json, &result(&message["id"], text(&told.to_string())).to_string());
            }
            _ => {}
        }
        whole(out, "200 OK", json, &whole_text)
    }

    fn chunked(&self, body: &str, out: &mut TcpStream) -> Outcome {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        out.write_all(head.as_bytes())?;
        for (index, piece) in body.as_bytes().chunks(7).enumerate() {
            match (index, self.mode.as_str()) {
                (2, "chunked-cut") => return Err(std::io::ErrorKind::Other.into()),
                (2, "chunked-broken") => return cut(out, b"xyz\r\n"),
                _ => {}
            }
            write!(out, "{:03X};note=\"{index}\"\r\n", piece.len())?;
            out.write_all(piece)?;
            out.write_all(b"\r\n")?;
        }
        out.write_all(b"0\r\nX-Trailer: yes\r\n\r\n")
    }

    /// Waits for something that another connection brings; gives up after 10 s.
    pub(crate) fn wait_for(&self, pick: impl Fn(&State) -> Option<Value>) -> Value {
        for _ in 0..1000 {
            if let Some(found) = pick(&self.state()) {
                return found;
            }
            sleep(Duration::from_millis(10));
        }
        Value::Null
    }
}

fn read_request(input: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    input.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Map::new();
    loop {
        line.clear();
        input.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), json!(value.trim()));
    }
    let length = headers.get("content-length").and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body })
}

pub(crate) fn whole(out: &mut TcpStream, status: &str, content_type: &str, body: &str) -> Outcome {
    whole_with(out, status, content_type, "", body.as_bytes())
}

fn whole_with(out: &mut TcpStream, status: &str, content_type: &str, headers: &str, body: &[u8]) -> Outcome {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    out.write_all(&[head.as_bytes(), body].concat())
}

/// Writes and ends the connection.
pub(crate) fn cut(out: &mut TcpStream, bytes: &[u8]) -> Outcome {
    out.write_all(bytes)?;
    Err(std::io::ErrorKind::Other.into())
}

/// A gzip file with one stored block.
fn gzip(body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap_or(u16::MAX);
    let body = &body[..usize::from(length)];
    let mut file = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(&(!length).to_le_bytes());
    file.extend_from_slice(body);
    let mut crc = !0_u32;
    for byte in body {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    file.extend_from_slice(&(!crc).to_le_bytes());
    file.extend_from_slice(&u32::from(length).to_le_bytes());
    file
}
