//! A session with a server: the operations of MCP, the same for every revision and transport.
//!
//! Owns: choosing the revision, the request table, deadlines, findings, lists. May use: `rpc`, `transport`, `json`, `source`,
//! `sensitive`. Must not: print, know scripts, plans, events or reports.

pub mod call;
pub mod declares;
pub mod error;
pub mod findings;
pub mod inventory;
pub mod target;
pub mod version;

use std::sync::Arc;
use std::time::Duration;

pub use call::{Call, Exchange};
pub use declares::{ClientDeclares, Root};
pub use error::{CallError, ErrorKind, OpenError};
pub use findings::Finding;
pub use inventory::{ListKind, Tool, Tools};
pub use target::{Endpoint, HttpFlavor, Limits, Memory, ProtocolChoice, Target};
pub use version::{Era, Features, Revision};

use crate::json::Raw;
use crate::transport::{Closed, Ending};

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From us to the server.
    Sent,
    /// From the server to us.
    Received,
}

/// Sees what a session does, as it happens. Is called between messages: it must return quickly and must not call the session.
pub trait Observer: Send + Sync {
    /// A message, or a line that was to be one, exactly as it went (invalid UTF-8 replaced).
    fn frame(&self, direction: Direction, text: &str) {
        let _ = (direction, text);
    }
    /// A line on the server's stderr.
    fn stderr(&self, line: &str) {
        let _ = line;
    }
    /// Something noticed.
    fn finding(&self, finding: Finding) {
        let _ = finding;
    }
    /// Progress of a request under way.
    fn progress(&self, message: Option<&str>, progress: Option<f64>, total: Option<f64>) {
        let _ = (message, progress, total);
    }
}

/// An observer that looks away.
impl Observer for () {}

/// How a session was opened and what the server said about itself.
#[derive(Clone, Debug)]
pub struct Facts {
    /// `stdio`, `http` or `memory`.
    pub transport: &'static str,
    /// The revision spoken.
    pub revision: Revision,
    /// Why this one, in words.
    pub why: String,
    /// The server's name.
    pub server_name: Option<String>,
    /// The server's version.
    pub server_version: Option<String>,
    /// Its capabilities; `{}` where it named none.
    pub capabilities: Raw,
    /// Its instructions.
    pub instructions: Option<String>,
    /// The whole result of `initialize` or `server/discover`; none where the server refused the latter.
    pub opening: Option<Raw>,
    /// From the spawn or first request to an open session.
    pub opened_in: Duration,
}

/// A session with a server. Dropping it ends the child process.
pub struct Session {
    facts: Facts,
}

impl Session {
    /// Connects, finds out or sets the revision, and opens.
    ///
    /// # Errors
    /// Where the target is refused, the server cannot be started or reached, or no common revision is found.
    pub async fn open(
        target: &Target,
        declares: ClientDeclares,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, OpenError> {
        target.check().map_err(OpenError::Target)?;
        let _ = (declares, observer);
        Err(OpenError::Target("no transport is built yet".to_owned()))
    }

    /// What is known about the server and the connection.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Makes a request and waits for its answer.
    ///
    /// # Errors
    /// Where no answer came that can be read; a JSON-RPC error is an answer.
    pub async fn call(&self, call: Call) -> Result<Exchange, CallError> {
        Err(self.unsent(&call.method))
    }

    /// Sends a notification; `params` is JSON text.
    ///
    /// # Errors
    /// Where it cannot be sent.
    pub async fn notify(&self, method: &str, params: Option<String>) -> Result<(), CallError> {
        let _ = params;
        Err(self.unsent(method))
    }

    /// The server's tools, all pages; listed once, and again after `notifications/tools/list_changed`.
    ///
    /// # Errors
    /// As [`Session::call`], and where the list has no end.
    pub async fn tools(&self) -> Result<Arc<Tools>, CallError> {
        Err(self.unsent(ListKind::Tools.method()))
    }

    /// A whole list. The result is as sent where it has one page, else the last page's with all items in it.
    ///
    /// # Errors
    /// As [`Session::call`], and where the list has no end.
    pub async fn list(&self, kind: ListKind, timeout: Option<Duration>) -> Result<Exchange, CallError> {
        let _ = timeout;
        Err(self.unsent(kind.method()))
    }

    /// Sets the log level that later requests ask for (2026-07-28; elsewhere it has no effect).
    pub fn set_log_level(&self, level: &str) {
        let _ = level;
    }

    /// The params of the `notifications/message` so far, oldest first; bounded.
    pub fn log_messages(&self) -> Vec<Raw> {
        Vec::new()
    }

    /// The lines on stdout that were no JSON-RPC, oldest first; bounded.
    pub fn noise(&self) -> Vec<String> {
        Vec::new()
    }

    /// The last lines on stderr, oldest first.
    pub fn stderr_tail(&self) -> Vec<String> {
        Vec::new()
    }

    /// Ends the session in order.
    pub async fn close(&self) -> Ending {
        Ending::default()
    }

    fn unsent(&self, method: &str) -> CallError {
        let closed = Closed { cause: "no transport is built yet".to_owned(), code: None, stderr: Vec::new() };
        CallError::Closed { method: method.to_owned(), closed, stray: None }
    }
}
