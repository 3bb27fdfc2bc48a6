//! The faults of event streams, byte by byte. The modes are those of `fault_http.rs`.

use std::io::Write;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fault_answers::{answer, log, result, text};
use crate::fault_http::{Outcome, Request, Server, cut, whole};

impl Server {
    pub(crate) fn stream(&self, message: &Value, reply: &Value, out: &mut TcpStream) -> Outcome {
        let note = log("on the way");
        events(out)?;
        match self.mode.as_str() {
            "sse-half-event" => return cut(out, format!("data: {note}\n\ndata: {{\"jsonrpc\":\"2.0\",").as_bytes()),
            "sse-no-answer" => return cut(out, format!("data: {note}\n\n").as_bytes()),
            "sse-never" => loop {
                out.write_all(b": keepalive\n\n")?;
                sleep(Duration::from_millis(50));
            },
            "sse-comments" => {
                let text =
                    format!(": ping\n\n:\nid: 1\n\nretry: 50\n\ndata:\n\n: x\ndata: {note}\n: y\n\ndata: {reply}\n\n");
                return cut(out, text.as_bytes());
            }
            "sse-types" => {
                let text = format!("event: ping\ndata: {{}}\n\nevent: message\ndata: {note}\n\ndata:{reply}\n\n");
                return cut(out, text.as_bytes());
            }
            "sse-cr" => {
                for byte in format!("data: {note}\r\rdata: {reply}\r\r").as_bytes() {
                    out.write_all(&[*byte])?;
                }
                return Err(std::io::ErrorKind::Other.into());
            }
            "sse-crlf-bom" => {
                let pretty = format!("{reply:#}").replace('\n', "\r\ndata: ");
                return cut(out, format!("\u{FEFF}data: {note}\r\n\r\ndata: {pretty}\r\n\r\n").as_bytes());
            }
            "sse-stays-open" => {
                out.write_all(format!("data: {reply}\n\n").as_bytes())?;
                sleep(Duration::from_secs(1000));
            }
            "sse-huge" => {
                let reply = result(&message["id"], text(&"x".repeat(self.number.unwrap_or(1 << 20))));
                return cut(out, format!("data: {reply}\n\n").as_bytes());
            }
            "sse-asks-ping" => {
                out.write_all(b"data: {\"jsonrpc\":\"2.0\",\"id\":\"fault-1\",\"method\":\"ping\"}\n\n")?;
                let told = self.wait_for(|state| state.told.clone());
                let reply = result(&message["id"], text(&told.to_string()));
                return cut(out, format!("data: {reply}\n\n").as_bytes());
            }
            "resume" | "resume-poll" | "resume-refused" => {
                self.state().held = Some(reply.clone());
                return cut(out, format!("id: e1\nretry: 50\ndata:\n\nid: e2\ndata: {note}\n\ndata: {{").as_bytes());
            }
            _ => {}
        }
        cut(out, format!("data: {note}\n\ndata: {reply}\n\n").as_bytes())
    }

    pub(crate) fn get(&self, request: &Request, out: &mut TcpStream) -> Outcome {
        let count = {
            let mut state = self.state();
            state.gets += 1;
            state.gets
        };
        let last = request.header("last-event-id");
        match self.mode.as_str() {
            "resume" | "resume-poll" if last == "e2" || last == "e3" => {
                events(out)?;
                if self.mode == "resume-poll" && last == "e2" {
                    return cut(out, b"id: e3\ndata:\n\n");
                }
                let held = self.state().held.take().unwrap_or_default();
                cut(out, format!("id: e4\ndata: {held}\n\n").as_bytes())
            }
            "listen" => {
                events(out)?;
                let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "after": last } });
                out.write_all(format!("id: s{count}\nretry: 50\ndata: {changed}\n\n").as_bytes())?;
                if count > 1 {
                    sleep(Duration::from_secs(1000));
                }
                Err(std::io::ErrorKind::Other.into())
            }
            "old-sse" | "old-sse-foreign" | "old-sse-closes" => self.old_stream(out),
            "listen-closes" => cut_events(out),
            "listen-500" => whole(out, "500 Internal Server Error", "text/plain", "oops"),
            "listen-roots" => {
                events(out)?;
                out.write_all(b"data: {\"jsonrpc\":\"2.0\",\"id\":\"fault-1\",\"method\":\"roots/list\"}\n\n")?;
                sleep(Duration::from_secs(1000));
                Ok(())
            }
            _ => whole(out, "405 Method Not Allowed", "text/plain", ""),
        }
    }

    fn old_stream(&self, out: &mut TcpStream) -> Outcome {
        events(out)?;
        if self.mode == "old-sse-foreign" {
            return cut(out, b"event: endpoint\ndata: http://127.0.0.2:9/messages\n\n");
        }
        out.write_all(b": hello\n\nevent: endpoint\ndata: /messages?session=1\n\n")?;
        loop {
            let queue = std::mem::take(&mut self.state().queue);
            for message in queue {
                if self.mode == "old-sse-closes" && message["id"] != 1 {
                    return Err(std::io::ErrorKind::Other.into());
                }
                out.write_all(format!("event: message\ndata: {message}\n\n").as_bytes())?;
            }
            sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn old_post(&self, request: &Request, out: &mut TcpStream) -> Outcome {
        if request.path != "/messages?session=1" {
            return whole(out, "404 Not Found", "text/html", "<html><body>Cannot POST</body></html>");
        }
        match serde_json::from_slice::<Value>(&request.body) {
            Ok(message) => self.state().queue.extend(answer(&message)),
            Err(_) => return whole(out, "400 Bad Request", "text/plain", "Invalid message"),
        }
        whole(out, "202 Accepted", "text/plain", "Accepted")
    }
}

/// The head of an event stream that ends with the connection.
fn events(out: &mut TcpStream) -> Outcome {
    out.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n",
    )
}

fn cut_events(out: &mut TcpStream) -> Outcome {
    events(out)?;
    sleep(Duration::from_millis(50));
    Err(std::io::ErrorKind::Other.into())
}
