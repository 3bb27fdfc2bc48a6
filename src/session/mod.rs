//! A session with a server: the operations of MCP, the same for every revision and transport.
//!
//! Owns: choosing the revision, the request table, deadlines, findings, lists. May use: `rpc`, `transport`, `json`, `source`,
//! `sensitive`. Must not: print, know scripts, plans, events or reports.

mod asked;
pub mod call;
mod connect;
pub mod declares;
mod dialect;
pub mod error;
pub mod findings;
mod greeting;
mod handshake;
mod headers;
mod inbound;
pub mod inventory;
mod link;
mod notices;
pub mod open_error;
mod opening;
mod pages;
mod peer;
mod probe;
mod raw;
mod stateless;
mod table;
pub mod target;
pub mod version;
mod views;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

pub use call::{Call, Exchange};
pub use declares::{ClientDeclares, Root};
pub use error::{CallError, ErrorKind};
pub use findings::Finding;
pub use inventory::{ListKind, Tool, Tools};
pub use open_error::OpenError;
pub use raw::RawExchange;
pub use target::{Endpoint, HttpFlavor, Limits, Memory, ProtocolChoice, Target};
pub use version::{Era, Features, Revision};

use self::connect::Opened;
use self::dialect::{Dialect, Reply, Wire, one_line, read_object};
use self::findings::preview;
use self::link::{Answered, Link};
use self::target::check_header;
use crate::json::Raw;
use crate::rpc::{Id, RpcError, notification};
use crate::sensitive::Sensitive;
use crate::transport::Ending;

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
    /// `stdio`, `http`, `sse` or `memory`.
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
    link: Link,
    dialect: Arc<dyn Dialect>,
    facts: Facts,
    limits: Limits,
    allow_tools: Option<Vec<String>>,
    ids: AtomicI64,
    /// The tools, with the number of changes that had been announced before they were listed.
    tools: Mutex<Option<(u64, Arc<Tools>)>>,
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
        let started = Instant::now();
        let opened = connect::open(target, &declares, &observer).await?;
        let Opened { link, dialect, identity, opening, why, next_id } = opened;
        let facts = Facts {
            transport: link.transport.label(),
            revision: dialect.revision(),
            why,
            server_name: identity.name,
            server_version: identity.version,
            capabilities: identity.capabilities,
            instructions: identity.instructions,
            opening,
            opened_in: started.elapsed(),
        };
        Ok(Self {
            link,
            dialect,
            facts,
            limits: target.limits,
            allow_tools: target.allow_tools.clone(),
            ids: AtomicI64::new(next_id),
            tools: Mutex::default(),
        })
    }

    /// What is known about the server and the connection.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Makes a request and waits for its answer. Dropping the future gives the request up and tells the server.
    ///
    /// # Errors
    /// Where no answer came that can be read; a JSON-RPC error is an answer.
    pub async fn call(&self, call: Call) -> Result<Exchange, CallError> {
        self.check_tool(&call.method, call.params.as_deref())?;
        check_headers(&call.headers)?;
        let id = Id::Number(self.ids.fetch_add(1, Ordering::Relaxed));
        let message = self.dialect.dress(id, &call);
        let request: Arc<str> = message.body.as_str().into();
        let silence = call.timeout.unwrap_or(self.limits.timeout);
        let from = self.link.peer.notices();
        let started = Instant::now();
        let answered = self.link.ask(message, call.method.clone(), silence).await?;
        let duration = answered.at.saturating_duration_since(started);
        let outcome = self.read(&call, answered)?;
        let notices = self.link.peer.notices_since(from);
        Ok(Exchange { method: call.method, request, outcome, duration, notices })
    }

    /// Sends a notification; `params` is JSON text.
    ///
    /// # Errors
    /// Where it cannot be sent.
    pub async fn notify(&self, method: &str, params: Option<String>) -> Result<(), CallError> {
        self.check_tool(method, params.as_deref())?;
        let body = notification(method, params.as_deref().map(one_line).as_deref());
        let message = self.dialect.one_way(Some(method), body);
        self.link.tell(method, message, self.limits.timeout).await
    }

    /// Changes the roots that the server may list; tells it in the revisions that have a message for that.
    ///
    /// # Errors
    /// Where the message cannot be sent.
    pub async fn set_roots(&self, roots: Vec<Root>) -> Result<(), CallError> {
        self.link.peer.set_roots(roots);
        if self.facts.revision.is_modern() {
            return Ok(());
        }
        self.notify("notifications/roots/list_changed", None).await
    }

    /// The server's tools, all pages; listed once, and again after `notifications/tools/list_changed`.
    ///
    /// # Errors
    /// As [`Session::call`], and where the list has no end. A page that the server refused is no error: the tools before it
    /// are there, and [`Tools::listing`] holds the refusal.
    pub async fn tools(&self) -> Result<Arc<Tools>, CallError> {
        let changes = self.link.peer.tools_changed();
        if let Some((seen, tools)) = &*self.cached()
            && *seen == changes
        {
            return Ok(Arc::clone(tools));
        }
        let pages = self.pages(ListKind::Tools, None).await?;
        let mirrors = self.facts.revision.is_modern() && self.link.wire == Wire::Http;
        let (tools, findings) = Tools::read(pages, mirrors);
        self.link.peer.find(findings);
        let tools = Arc::new(tools);
        // A refusal that may not be the last word is asked about again.
        let lasting = tools.listing.outcome.as_ref().map_or_else(|error| error.code == Some(-32601), |_| true);
        if lasting {
            *self.cached() = Some((changes, Arc::clone(&tools)));
        }
        Ok(tools)
    }

    /// A whole list. The result is as sent where it has one page, else the last page's with all items in it.
    ///
    /// # Errors
    /// As [`Session::call`], and where the list has no end.
    pub async fn list(&self, kind: ListKind, timeout: Option<Duration>) -> Result<Exchange, CallError> {
        Ok(self.pages(kind, timeout).await?.listing)
    }

    /// Sets the log level that later requests ask for (2026-07-28; elsewhere it has no effect).
    pub fn set_log_level(&self, level: &str) {
        self.dialect.set_log_level(level);
    }

    /// The params of the `notifications/message` so far, oldest first; bounded.
    pub fn log_messages(&self) -> Vec<Raw> {
        self.link.peer.state().logs.since(0)
    }

    /// The lines on stdout that were no JSON-RPC, oldest first; bounded.
    pub fn noise(&self) -> Vec<String> {
        self.link.peer.state().noise.lines()
    }

    /// How many lines on stdout were no JSON-RPC, also where not all of them are kept.
    pub fn noise_count(&self) -> u64 {
        self.link.peer.state().noise.seen()
    }

    /// The last lines on stderr, oldest first; those that our probe caused left out.
    pub fn stderr_tail(&self) -> Vec<String> {
        self.link.stderr()
    }

    /// Closes the server's stdin; what it still answers is read (stdio, else nothing happens).
    pub async fn close_stdin(&self) {
        self.link.transport.close_stdin().await;
    }

    /// Ends the session in order.
    pub async fn close(&self) -> Ending {
        self.link.transport.close(self.limits.grace, self.dialect.headers()).await
    }

    /// Reads an answer as its era does.
    fn read(&self, call: &Call, answered: Answered) -> Result<Result<Raw, RpcError>, CallError> {
        let result = match answered.outcome {
            Ok(result) => result,
            Err(error) => {
                return match answered.status.filter(|status| self.outweighs(*status, &error)) {
                    Some(status) => Err(CallError::refused(status, &error)),
                    None => Ok(Err(error)),
                };
            }
        };
        let reading = self.dialect.read(&call.method, call.tasks, &result);
        if !reading.findings.is_empty() {
            self.link.peer.find(reading.findings);
        }
        match reading.reply {
            Ok(Reply::Done) => Ok(Ok(result)),
            Ok(Reply::NeedsInput(questions)) => Err(CallError::InputRequired { questions, raw: result }),
            Err(why) => Err(CallError::BadReply { text: preview(result.as_str(), 2_000), why }),
        }
    }

    /// True where the HTTP status says more than the error that came with it: who we are is not accepted, or the session was ended
    /// by the server (2025-03-26, "Session Management"), unless the method is what is missing.
    fn outweighs(&self, status: u16, error: &RpcError) -> bool {
        match status {
            401 | 403 => true,
            404 => !self.facts.revision.is_modern() && error.code != Some(-32601),
            _ => false,
        }
    }

    /// Refuses tools that are not on the allowlist, whatever asks for them.
    fn check_tool(&self, method: &str, params: Option<&str>) -> Result<(), CallError> {
        match &self.allow_tools {
            Some(allowed) if method == "tools/call" => allowlist(allowed, params),
            _ => Ok(()),
        }
    }

    fn cached(&self) -> MutexGuard<'_, Option<(u64, Arc<Tools>)>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses headers that are none.
fn check_headers(headers: &[(String, Sensitive<String>)]) -> Result<(), CallError> {
    headers.iter().try_for_each(|(name, value)| check_header(name, value.reveal())).map_err(CallError::Unsendable)
}

/// Checks the tool's name as any reader of the params could understand it: all members of that name count.
fn allowlist(allowed: &[String], params: Option<&str>) -> Result<(), CallError> {
    let params = params.and_then(read_object);
    let names: Vec<String> = params
        .iter()
        .flat_map(Raw::members)
        .filter(|(name, _)| name == "name")
        .map(|(_, value)| value.string().map_or_else(|| value.as_str().to_owned(), |name| name.into_owned()))
        .collect();
    match names.iter().find(|name| !allowed.contains(name)) {
        Some(name) => Err(CallError::NotAllowed(preview(name, 200))),
        None if names.is_empty() => Err(CallError::NotAllowed(String::new())),
        None => Ok(()),
    }
}
