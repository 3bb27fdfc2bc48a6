//! Requests of a script: the session is opened when a line needs it, and every answer becomes the last response.

use std::sync::{Arc, Mutex};

use super::cx::{Cx, FailedRequest, Link};
use super::last::{Last, Reply, Shape};
use super::outcome::{Failure, FailureKind, Fault, Outcome};
use crate::event::{self, Event, Sink};
use crate::rpc::RpcError;
use crate::sensitive::Sensitive;
use crate::session::{self, Call, CallError, ClientDeclares, ErrorKind, Exchange, OpenError, Session};

/// The name of the first session.
const MAIN: &str = "main";
/// Lines of stderr shown with a failure.
const STDERR_SHOWN: usize = 12;

/// The step that runs, shared with the observer so that findings name it.
pub(super) type Current = Arc<Mutex<Option<Arc<event::Step>>>>;

/// Turns what a session sees into events.
struct Bridge {
    sink: Arc<dyn Sink>,
    name: Arc<str>,
    frames: bool,
    current: Current,
}

impl Bridge {
    fn origin(&self) -> Option<crate::source::Origin> {
        self.current.lock().ok().and_then(|step| step.as_ref().map(|step| step.origin.clone()))
    }
}

impl session::Observer for Bridge {
    fn frame(&self, direction: session::Direction, text: &str) {
        if self.frames {
            let direction = match direction {
                session::Direction::Sent => event::Direction::Sent,
                session::Direction::Received => event::Direction::Received,
            };
            let text = Sensitive::new(text.to_owned());
            self.sink.emit(&Event::Frame(event::Frame { session: self.name.clone(), direction, text }));
        }
    }

    fn stderr(&self, line: &str) {
        self.sink.emit(&Event::Stderr { session: self.name.clone(), line: Sensitive::new(line.to_owned()) });
    }

    fn finding(&self, finding: session::findings::Finding) {
        self.sink.emit(&Event::Finding(event::Finding {
            id: finding.id,
            must: finding.must,
            message: Sensitive::new(finding.message),
            session: self.name.clone(),
            origin: self.origin(),
        }));
    }

    fn progress(&self, message: Option<&str>, progress: Option<f64>, total: Option<f64>) {
        let share =
            progress.zip(total).filter(|(_, total)| *total > 0.0).map(|(done, total)| (done / total).clamp(0.0, 1.0));
        let text = match (message, progress) {
            (Some(message), _) => message.to_owned(),
            (None, Some(done)) => total.map_or_else(|| format!("{done}"), |total| format!("{done} of {total}")),
            (None, None) => return,
        };
        self.sink.emit(&Event::Progress { text: Sensitive::new(text), share });
    }
}

impl Cx {
    /// The session; opened now where this is the first line that needs it.
    ///
    /// # Errors
    /// The outcome of the line, where there is no session to be had.
    pub async fn session(&mut self) -> Result<Arc<Session>, Outcome> {
        match &self.link {
            Link::Open(session) => return Ok(session.clone()),
            Link::Lost { line, what, .. } => return Err(Outcome::Skipped(format!("{what} on line {line}"))),
            Link::Closed => {}
        }
        let Some(target) = self.settings.target.clone() else {
            self.link = Link::Lost { line: self.line, what: "no server was named, which showed", session: None };
            return Err(Failure::new(FailureKind::Closed, "mcp::connect::no_server", "no server to talk to")
                .help("name one: put `-- <command> <arguments>` at the end, or give `-u <url>`, `-c '<command>'` or `-p <profile>`")
                .into());
        };
        let bridge = Arc::new(Bridge {
            sink: self.settings.sink.clone(),
            name: MAIN.into(),
            frames: self.settings.frames,
            current: self.current.clone(),
        });
        match Session::open(&target, ClientDeclares::default(), bridge).await {
            Ok(session) => {
                let session = Arc::new(session);
                let facts = session.facts();
                self.emit(&Event::Connected(event::Connected {
                    session: MAIN.into(),
                    transport: facts.transport,
                    protocol: facts.revision.as_str(),
                    why: facts.why.clone(),
                    server_name: facts.server_name.clone(),
                    server_version: facts.server_version.clone(),
                    duration: facts.opened_in,
                }));
                self.link = Link::Open(session.clone());
                Ok(session)
            }
            Err(error) => {
                self.link = Link::Lost { line: self.line, what: "the server could not be reached", session: None };
                Err(open_failure(&error).into())
            }
        }
    }

    /// True once the reports know the server's tools.
    pub fn tools_are_known(&self) -> bool {
        self.tools_told
    }

    /// Names of the server's tools become known: tells the reports once.
    pub fn tools_known(&mut self, names: Vec<String>) {
        if !std::mem::replace(&mut self.tools_told, true) {
            self.emit(&Event::ToolsListed { session: MAIN.into(), names });
        }
    }

    /// Sends a request with the options that prefixes set; the answer becomes the last response.
    ///
    /// # Errors
    /// None of its own; the type is what commands return.
    pub async fn request(&mut self, mut call: Call, command: &'static str, shape: Shape) -> Result<Outcome, Fault> {
        let session = match self.session().await {
            Ok(session) => session,
            Err(outcome) => return Ok(outcome),
        };
        call.headers.extend(self.call.headers.iter().cloned());
        let Some(limit) = self.call.timeout else {
            let result = session.call(call).await;
            return Ok(self.conclude(result, command, shape));
        };
        // The line's own limit is for the whole answer: progress does not extend it, as it extends the session's.
        let method = call.method.to_string();
        call.timeout = Some(limit);
        let result = tokio::time::timeout(limit, session.call(call)).await.unwrap_or(Err(CallError::Timeout {
            method,
            after: limit,
            progress: 0,
            last: None,
            stray: None,
        }));
        Ok(self.conclude(result, command, shape))
    }

    /// Makes an answer the last response and says how the line ends.
    pub fn conclude(&mut self, result: Result<Exchange, CallError>, command: &'static str, shape: Shape) -> Outcome {
        match result {
            Ok(exchange) => {
                let (reply, failure) = match exchange.outcome {
                    Ok(raw) => (Reply::Result(raw), None),
                    Err(error) => {
                        let failure = protocol_failure(&exchange.method, &error);
                        self.failed =
                            Some(FailedRequest { line: self.line, code: error.code, what: failure.title.clone() });
                        (Reply::Error(error), Some(failure))
                    }
                };
                let mut last = Last::new(self.line, command, reply, shape);
                last.duration = exchange.duration;
                last.notices = exchange.notices;
                last.request = exchange.request;
                let failure = failure.or_else(|| last.is_tool_error().then(|| tool_failure(&last)));
                self.last = Some(last);
                failure.map_or(Outcome::Passed, Outcome::from)
            }
            Err(error) => {
                let failure = call_failure(&error);
                self.failed = Some(FailedRequest { line: self.line, code: None, what: failure.title.clone() });
                self.last = Some(Last::new(self.line, command, Reply::Nothing(failure.title.clone()), shape));
                if failure.kind == FailureKind::Closed
                    && let Link::Open(session) = &self.link
                    && matches!(error, CallError::Closed { .. })
                {
                    self.link =
                        Link::Lost { line: self.line, what: "the connection was lost", session: Some(session.clone()) };
                }
                failure.into()
            }
        }
    }
}

fn open_failure(error: &OpenError) -> Failure {
    let mut failure = Failure::new(FailureKind::Closed, "mcp::connect::failed", error.to_string());
    failure.help = error.hint();
    failure.detail = stderr_tail(error.stderr());
    failure
}

/// The last lines of stderr, for messages.
fn stderr_tail(lines: &[String]) -> Option<String> {
    let from = lines.len().saturating_sub(STDERR_SHOWN);
    (!lines.is_empty()).then(|| format!("the last lines on stderr:\n{}", lines[from..].join("\n")))
}

fn call_failure(error: &CallError) -> Failure {
    let (kind, code) = match error.kind() {
        ErrorKind::Timeout => (FailureKind::Timeout, "mcp::call::timeout"),
        ErrorKind::Closed => (FailureKind::Closed, "mcp::call::closed"),
        ErrorKind::Http => (FailureKind::Closed, "mcp::call::http"),
        ErrorKind::Protocol => (FailureKind::Output, "mcp::call::bad_answer"),
        ErrorKind::Input => (FailureKind::Input, "mcp::call::input_required"),
        ErrorKind::Refused => (FailureKind::Missing, "mcp::call::refused"),
    };
    let mut failure = Failure::new(kind, code, error.to_string());
    failure.help = error.hint();
    failure.detail = match error {
        CallError::BadReply { text, .. } => Some(format!("the answer: {text}")),
        error => stderr_tail(error.stderr()),
    };
    failure
}

fn protocol_failure(method: &str, error: &RpcError) -> Failure {
    let code = error.code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
    let mut failure = Failure::new(
        FailureKind::Protocol,
        "mcp::call::rpc_error",
        format!("{method} failed with {code}: {}", error.message),
    );
    if let Some(data) = error.raw.get("data") {
        failure.detail = Some(format!("data: {}", data.to_json().pretty()));
    }
    let meaning =
        error.code.and_then(code_meaning).map(|meaning| format!("{code} means {meaning}; ")).unwrap_or_default();
    failure.help(format!("{meaning}if this error is expected, write `expect_error` in front of the command"))
}

fn tool_failure(last: &Last) -> Failure {
    Failure::new(FailureKind::Tool, "mcp::call::tool_error", "the tool answered with an error (isError: true)")
        .detail(last.text().to_owned())
        .help("if this error is expected, write `expect_error` in front of the command")
}

/// What a JSON-RPC error code means (JSON-RPC 2.0 section 5.1; MCP 2026-07-28 "Error codes").
pub fn code_meaning(code: i64) -> Option<&'static str> {
    Some(match code {
        -32700 => "parse error: the message was no valid JSON",
        -32600 => "invalid request",
        -32601 => "method not found",
        -32602 => "invalid params, or an unknown tool, prompt or resource",
        -32603 => "internal error of the server",
        -32002 => "resource not found (up to 2025-11-25)",
        -32020 => "a header that does not match the body",
        -32021 => "a client capability that is missing",
        -32022 => "a protocol version that is not supported",
        -32042 => "an elicitation by URL that must come first (2025-11-25)",
        _ => return None,
    })
}
