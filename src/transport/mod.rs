//! Ways to move JSON-RPC messages: a child process, Streamable HTTP, a pair in memory.
//!
//! Owns: the bytes, the child process, the HTTP client. May use: `rpc`, `json`, `sensitive`.
//! Must not: know MCP methods, versions or scripts; headers are handed to it.

pub mod http;
pub mod memory;
pub mod sse;
pub mod stdio;

use std::borrow::Cow;
use std::pin::Pin;
use std::time::Duration;

use crate::rpc::Id;
use crate::sensitive::Sensitive;

/// A boxed future, as the transports' object-safe methods return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One message to send.
#[derive(Debug)]
pub struct Outgoing {
    /// The JSON-RPC message, without a line end.
    pub body: String,
    /// What kind of message it is; HTTP treats them differently.
    pub kind: OutgoingKind,
    /// Headers that mirror the message (HTTP only), such as `Mcp-Method`.
    pub headers: Vec<(Cow<'static, str>, Sensitive<String>)>,
    /// Headers of the transport's own that this message goes without (HTTP only).
    pub without: Vec<String>,
    /// The answer opens a session whose id later messages must carry (HTTP, `initialize`).
    pub opens_session: bool,
}

/// What an outgoing message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutgoingKind {
    /// A request; the answer carries this id.
    Request(Id),
    /// A notification, or an answer to a request of the server: HTTP expects 202.
    OneWay,
    /// Text sent as it is (`send_raw`); whatever comes back is delivered.
    Raw,
}

/// What arrives, pushed in order into the [`Inbox`].
#[derive(Debug)]
pub enum Incoming {
    /// A frame: one stdout line, one HTTP body or one SSE event's data. Not yet checked to be JSON.
    Frame {
        /// The bytes, line end left out.
        bytes: Vec<u8>,
        /// Where it came from.
        via: Via,
    },
    /// An HTTP answer that carries no JSON-RPC message: wrong status, wrong content type, unreadable body.
    HttpProblem {
        /// The request it answers, if it was one.
        id: Option<Id>,
        /// What came.
        answer: HttpAnswer,
    },
    /// The stream that was to carry the answer to `id` ended without it.
    StreamEnded {
        /// The request.
        id: Id,
        /// Why, in words.
        cause: String,
    },
    /// A request could not be delivered or its answer not be read: refused, reset, TLS, a body too large.
    Failed {
        /// The request, if it was one.
        id: Option<Id>,
        /// Why, with all causes.
        cause: String,
    },
    /// A line on the child's stderr.
    Stderr(String),
    /// Something noticed below the level of messages, with its stable id.
    Remark {
        /// Such as `stdio-crlf`.
        id: &'static str,
        /// One line.
        message: String,
    },
    /// Nothing will arrive any more.
    Closed(Closed),
}

/// Which channel a frame came in on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// The child's stdout, the memory pair, or the event stream of HTTP+SSE.
    Pipe,
    /// The HTTP answer to this request (JSON body or SSE event), with its status.
    Answer {
        /// The request's id; none for a one-way message.
        id: Option<Id>,
        /// HTTP status.
        status: u16,
        /// True for an SSE event.
        sse: bool,
    },
    /// The standing GET stream.
    Standing,
}

/// An HTTP answer in short.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// Status code.
    pub status: u16,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// `WWW-Authenticate` or `Location`, where they explain the status.
    pub hint: Option<String>,
    /// The start of the body (at most 64 KiB), invalid UTF-8 replaced.
    pub body: String,
}

impl HttpAnswer {
    /// True for a web page: by its content type, or by how its body starts.
    pub fn is_html(&self) -> bool {
        let type_says = self.content_type.as_deref().is_some_and(|text| text.to_ascii_lowercase().contains("html"));
        let start: String = self.body.trim_start().chars().take(9).collect::<String>().to_ascii_lowercase();
        type_says || start == "<!doctype" || start.starts_with("<html")
    }
}

/// Why a connection is over.
#[derive(Debug, Clone)]
pub struct Closed {
    /// In words: `exit code 3`, `signal 9 (KILL)`, `stdout closed`, `connection refused`.
    pub cause: String,
    /// Exit code of the child, where it ended by itself.
    pub code: Option<i32>,
    /// The last lines of stderr, oldest first; bounded.
    pub stderr: Vec<String>,
}

/// Receives what arrives. Called by the transport's own task; must not block.
pub trait Inbox: Send + Sync {
    /// Takes one arrival.
    fn deliver(&self, incoming: Incoming);
    /// Sees a message as it goes out, exactly as written to the wire.
    fn sent(&self, text: &str);
}

/// A way to the server.
pub trait Transport: Send + Sync {
    /// `stdio`, `http`, `sse` (HTTP+SSE of 2024-11-05) or `memory`.
    fn label(&self) -> &'static str;
    /// Sends one message. For HTTP this returns once the request is on its way; the answer is pushed.
    ///
    /// # Errors
    /// Where the message cannot be written; the words say why.
    fn send<'a>(&'a self, message: Outgoing) -> BoxFuture<'a, Result<(), SendError>>;
    /// Gives up the answer to `id`: HTTP closes its stream; a pipe has nothing to do.
    fn abandon(&self, id: &Id);
    /// Says that the answer to `id` has arrived, so that its stream may end without [`Incoming::StreamEnded`] and is
    /// not resumed. To be called while the answer is delivered; a pipe has nothing to do.
    fn settled(&self, id: &Id) {
        let _ = id;
    }
    /// Opens the standing GET stream (handshake eras over HTTP), with these headers; elsewhere nothing happens.
    fn listen(&self, headers: Vec<(Cow<'static, str>, Sensitive<String>)>);
    /// Closes the child's stdin; elsewhere nothing happens.
    fn close_stdin<'a>(&'a self) -> BoxFuture<'a, ()>;
    /// The last stderr lines, oldest first.
    fn stderr_tail(&self) -> Vec<String>;
    /// Ends the connection in order: stdin closed, TERM, KILL with `grace` each (child); DELETE of the session
    /// (HTTP, with these headers). Afterwards no process of the group is left.
    fn close<'a>(
        &'a self,
        grace: Duration,
        headers: Vec<(Cow<'static, str>, Sensitive<String>)>,
    ) -> BoxFuture<'a, Ending>;
}

/// How a connection ended after [`Transport::close`].
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// In words, such as `exit code 0 after stdin was closed` or `killed (it ignored a closed stdin and TERM)`.
    pub how: String,
    /// True where the child had to be killed.
    pub killed: bool,
}

/// A message that could not be sent.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct SendError(pub String);

#[cfg(test)]
mod tests {
    use super::HttpAnswer;

    #[test]
    fn web_pages_are_recognised_by_type_or_start() {
        let is_html = |content_type: Option<&str>, body: &str| {
            let content_type = content_type.map(str::to_owned);
            HttpAnswer { status: 200, content_type, hint: None, body: body.to_owned() }.is_html()
        };
        assert!(is_html(Some("Text/HTML; charset=utf-8"), ""));
        assert!(is_html(Some("application/json"), "\n<!DOCTYPE html><title>x</title>"));
        assert!(is_html(None, "<html lang='en'>"));
        assert!(!is_html(Some("text/plain"), "<é>"));
    }
}
