//! The fault server over HTTP, and what the tests do with it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp_script::rpc::Id;
use mcp_script::sensitive::Sensitive;
use mcp_script::transport::http::{Http, HttpOptions};
use mcp_script::transport::{Ending, Outgoing, Transport};
use serde_json::{Value, json};
use url::Url;

use crate::fault::fault_server;
use crate::recorder::{Arrival, Recorder, notification, request};

/// The fault server as a process, ended with the test.
pub struct Server {
    child: Child,
    lines: BufReader<ChildStdout>,
    pub port: u16,
}

impl Server {
    pub fn start(args: &[&str]) -> Self {
        let mut child = Command::new(fault_server())
            .arg("http")
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fault server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a stdout"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("its first line");
        let port = line.trim().strip_prefix("listening on ").and_then(|port| port.parse().ok()).expect("a port");
        Self { child, lines, port }
    }

    /// The next request that a `+log` server saw.
    pub fn seen(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("a request")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn connect(args: &[&str]) -> (Server, Arc<Http>, Arc<Recorder>) {
    connect_with(args, |_| {})
}

pub fn connect_with(args: &[&str], change: impl FnOnce(&mut HttpOptions)) -> (Server, Arc<Http>, Arc<Recorder>) {
    let server = Server::start(args);
    let url = Url::parse(&format!("http://127.0.0.1:{}/mcp", server.port)).expect("a URL");
    let mut options = HttpOptions::new(url);
    change(&mut options);
    let inbox = Recorder::new();
    let http = Http::new(&options, inbox.clone()).expect("the options are right");
    inbox.settle_on(Arc::downgrade(&http) as _);
    (server, http, inbox)
}

pub async fn open(http: &Http, inbox: &Recorder) {
    http.send(request(1, "initialize", &json!({ "protocolVersion": "2025-11-25" }))).await.expect("initialize is sent");
    inbox.response(1).await;
    http.send(notification("notifications/initialized")).await.expect("initialized is sent");
}

pub async fn close(http: &Http) -> Ending {
    http.close(Duration::from_secs(2), Vec::new()).await
}

pub async fn problem(inbox: &Recorder) -> (Option<Id>, u16, String) {
    let pick = |arrival: &Arrival| match arrival {
        Arrival::Http(id, status, text) => Some((id.clone(), *status, text.clone())),
        _ => None,
    };
    inbox.wait(pick).await
}

pub async fn failure(inbox: &Recorder) -> (Option<Id>, String) {
    let pick = |arrival: &Arrival| match arrival {
        Arrival::Failed(id, cause) => Some((id.clone(), cause.clone())),
        _ => None,
    };
    inbox.wait(pick).await
}

pub async fn ended(inbox: &Recorder) -> (Id, String) {
    let pick = |arrival: &Arrival| match arrival {
        Arrival::Ended(id, cause) => Some((id.clone(), cause.clone())),
        _ => None,
    };
    inbox.wait(pick).await
}

pub fn line(name: &'static str, value: &str) -> (std::borrow::Cow<'static, str>, Sensitive<String>) {
    (name.into(), Sensitive::new(value.to_owned()))
}

pub fn with(mut message: Outgoing, name: &'static str, value: &str) -> Outgoing {
    message.headers.push(line(name, value));
    message
}
