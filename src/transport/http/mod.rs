//! Streamable HTTP: every message is a POST, answered by JSON or by an event stream.
//!
//! Owns: the client, the session id, one task for each request. May use: `rpc`, `json`, `sensitive`.
//! Must not: know MCP methods or revisions: what differs between them is handed over as headers and by calling
//! [`Transport::listen`]. Nothing is sent twice, no redirect is followed, no cookie is kept.

mod answer;
mod client;
mod exchange;
mod headers;
mod old_sse;
mod open;
mod stream;
mod words;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Request, Response};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use url::Url;

use super::{BoxFuture, Closed, Ending, Inbox, Incoming, Outgoing, OutgoingKind, SendError, Transport};
use crate::rpc::Id;
use crate::sensitive::Sensitive;

pub use client::{ClientOptions, SharedClient, is_loopback, may_carry_credentials};
use exchange::Exchange;
pub use headers::{PROTOCOL_HEADERS, is_protocol_header};
pub use old_sse::OldSse;
use open::Open;
pub use words::display_url;

const SESSION_ID: &str = "mcp-session-id";
/// The longest that the end of a session is waited for.
const FAREWELL: Duration = Duration::from_secs(2);

/// A header as the session hands it over.
type Line = (Cow<'static, str>, Sensitive<String>);

/// Where to connect, and with what.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The endpoint. User and password in it are refused.
    pub url: Url,
    /// The user's headers, sent with every request. Those of [`PROTOCOL_HEADERS`] are refused.
    pub headers: Vec<(String, Sensitive<String>)>,
    /// TLS and proxy.
    pub client: ClientOptions,
    /// The client to share with other connections to the same server.
    pub shared: SharedClient,
    /// The largest body or event accepted, in bytes.
    pub max_message: usize,
    /// Resume broken streams by event id, in the revisions that know it (see [`Transport::listen`]).
    pub resume: bool,
}

impl HttpOptions {
    /// No headers, the system's TLS roots and proxy, messages of up to 64 MiB, resumption on.
    pub fn new(url: Url) -> Self {
        Self {
            url,
            headers: Vec::new(),
            client: ClientOptions::default(),
            shared: SharedClient::default(),
            max_message: 64 * 1024 * 1024,
            resume: true,
        }
    }
}

/// A connection over Streamable HTTP. Dropping it ends its requests.
#[derive(Debug)]
pub struct Http {
    shared: Arc<Shared>,
}

struct Shared {
    inbox: Arc<dyn Inbox>,
    url: Url,
    base: HeaderMap,
    client_options: ClientOptions,
    shared_client: SharedClient,
    client: std::sync::OnceLock<Client>,
    max_message: usize,
    resume: bool,
    session: Mutex<Option<HeaderValue>>,
    /// The headers of the standing stream, known once it was asked for: the revision is one with resumption.
    handshake: Mutex<Option<HeaderMap>>,
    standing: Mutex<Option<AbortHandle>>,
    open: Arc<Open>,
    remarked: Mutex<HashSet<&'static str>>,
}

impl Http {
    /// Prepares a connection; nothing is sent, and the client is built with the first message.
    ///
    /// # Errors
    /// A URL that is not http or https, names no host or holds a user; a header of the protocol, or no header at all.
    pub fn new(options: &HttpOptions, inbox: Arc<dyn Inbox>) -> Result<Arc<Self>, SendError> {
        Ok(Arc::new(Self { shared: Arc::new(Shared::new(options, inbox)?) }))
    }

    /// Spawns the exchange; the receiver is for one-way messages: it ends once they were answered, or says why not.
    fn start(&self, message: Outgoing) -> Result<oneshot::Receiver<String>, SendError> {
        let shared = &self.shared;
        let Outgoing { body, kind, headers, without, opens_session } = message;
        if opens_session {
            shared.forget_session();
        }
        let mut lines = shared.with_session(shared.base.clone());
        headers::set(&mut lines, &headers).map_err(SendError)?;
        for name in &without {
            lines.remove(name);
        }
        let resume_with = if shared.resume && kind != OutgoingKind::OneWay {
            match &*locked(&shared.handshake) {
                Some(handshake) => Some(handshake.clone()),
                None if opens_session => Some(without_body(lines.clone())),
                None => None,
            }
        } else {
            None
        };
        let id = match &kind {
            OutgoingKind::Request(id) => Some(id),
            OutgoingKind::OneWay | OutgoingKind::Raw => None,
        };
        let Some(entry) = shared.open.enter(id) else {
            return Err(SendError("the connection was closed by us".to_owned()));
        };
        shared.inbox.sent(&body);
        let mut request = shared.request(Method::POST, lines);
        *request.body_mut() = Some(body.into());
        let ticket = entry.ticket();
        let exchange = Exchange { kind, request, opens_session, resume_with };
        let (taken, answered) = oneshot::channel();
        let task = tokio::spawn(exchange.run(Arc::clone(shared), entry, taken));
        shared.open.started(ticket, task.abort_handle());
        Ok(answered)
    }

    async fn shut_down(&self, grace: Duration, lines: Vec<Line>) -> Ending {
        let first = self.shared.open.end_all();
        let how = self.leave(grace, &lines).await;
        if first {
            let closed = Closed { cause: "closed by us".to_owned(), code: None, stderr: Vec::new() };
            self.shared.deliver(Incoming::Closed(closed));
        }
        Ending { how, killed: false }
    }

    /// Ends the session at the server, where there is one.
    async fn leave(&self, grace: Duration, lines: &[Line]) -> String {
        let shared = &self.shared;
        let mut headers = shared.get_headers();
        let had_session = locked(&shared.session).take().is_some();
        if !had_session {
            return "closed; there was no session to end".to_owned();
        }
        if let Err(cause) = headers::set(&mut headers, lines) {
            return format!("closed; the session was not ended: {cause}");
        }
        let request = shared.request(Method::DELETE, headers);
        let client = match shared.client() {
            Ok(client) => client,
            Err(cause) => return format!("closed; the session was not ended: {cause}"),
        };
        match timeout(grace.min(FAREWELL), client.execute(request)).await {
            Ok(Ok(response)) if response.status().is_success() => {
                format!("closed; the session was ended (HTTP {})", response.status().as_u16())
            }
            Ok(Ok(response)) if response.status().as_u16() == 405 => {
                "closed; the server does not let sessions be ended (HTTP 405)".to_owned()
            }
            Ok(Ok(response)) => {
                format!("closed; ending the session was refused (HTTP {})", response.status().as_u16())
            }
            Ok(Err(error)) => format!("closed; the session was not ended: {}", words::describe(&error, &shared.url)),
            Err(_) => "closed; the server did not answer to the end of the session".to_owned(),
        }
    }
}

impl Transport for Http {
    fn label(&self) -> &'static str {
        "http"
    }

    /// A request returns once it is on its way; a one-way message once it was answered, so that the next message
    /// cannot overtake it.
    fn send<'a>(&'a self, message: Outgoing) -> BoxFuture<'a, Result<(), SendError>> {
        let one_way = message.kind == OutgoingKind::OneWay;
        let started = self.start(message);
        Box::pin(async move {
            let answered = started?;
            match one_way {
                true => answered.await.map_or(Ok(()), |cause| Err(SendError(cause))),
                false => Ok(()),
            }
        })
    }

    fn abandon(&self, id: &Id) {
        self.shared.open.abandon(id);
    }

    fn settled(&self, id: &Id) {
        self.shared.open.settle(id);
    }

    fn listen(&self, lines: Vec<Line>) {
        let shared = &self.shared;
        let mut headers = shared.get_headers();
        if let Err(message) = headers::set(&mut headers, &lines) {
            return shared.deliver(Incoming::Failed { id: None, cause: message });
        }
        *locked(&shared.handshake) = Some(headers.clone());
        let Some(entry) = shared.open.enter(None) else { return };
        let ticket = entry.ticket();
        let work = stream::standing(Arc::clone(shared), headers);
        let task = tokio::spawn(async move {
            work.await;
            drop(entry);
        });
        shared.open.started(ticket, task.abort_handle());
        if let Some(old) = locked(&shared.standing).replace(task.abort_handle()) {
            old.abort();
        }
    }

    fn close_stdin<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn stderr_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn close<'a>(&'a self, grace: Duration, headers: Vec<Line>) -> BoxFuture<'a, Ending> {
        Box::pin(self.shut_down(grace, headers))
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.shared.open.end_all();
    }
}

impl Shared {
    fn new(options: &HttpOptions, inbox: Arc<dyn Inbox>) -> Result<Self, SendError> {
        let url = &options.url;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(SendError(format!("{} is no http or https URL", display_url(url))));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(SendError(format!("the URL {} holds a user or password", display_url(url))));
        }
        let mut base = HeaderMap::new();
        base.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        base.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some((name, _)) = options.headers.iter().find(|(name, _)| is_protocol_header(name)) {
            return Err(SendError(format!("the header `{name}` is set by the protocol and cannot be given")));
        }
        headers::set(&mut base, &options.headers).map_err(SendError)?;
        Ok(Self {
            inbox,
            url: url.clone(),
            base,
            client_options: options.client.clone(),
            shared_client: options.shared.clone(),
            client: std::sync::OnceLock::new(),
            max_message: options.max_message,
            resume: options.resume,
            session: Mutex::default(),
            handshake: Mutex::default(),
            standing: Mutex::default(),
            open: Arc::default(),
            remarked: Mutex::default(),
        })
    }

    fn deliver(&self, incoming: Incoming) {
        self.inbox.deliver(incoming);
    }

    /// Delivers a remark whose first occurrence says enough.
    fn remark_once(&self, id: &'static str, message: String) {
        if locked(&self.remarked).insert(id) {
            self.deliver(Incoming::Remark { id, message });
        }
    }

    /// An event of a type that MCP does not know.
    fn skipped(&self, event: &str) {
        let event: String = event.chars().take(40).collect();
        self.remark_once("sse-event-type", format!("an event of type `{event}` was skipped; MCP knows `message`"));
    }

    fn client(&self) -> Result<&Client, String> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.shared_client.get(&self.url, &self.client_options)?;
        Ok(self.client.get_or_init(|| client))
    }

    fn request(&self, method: Method, headers: HeaderMap) -> Request {
        let mut request = Request::new(method, self.url.clone());
        *request.headers_mut() = headers;
        request
    }

    /// Adds the session's id, if there is one.
    fn with_session(&self, mut headers: HeaderMap) -> HeaderMap {
        if let Some(session) = &*locked(&self.session) {
            headers.insert(SESSION_ID, session.clone());
        }
        headers
    }

    /// The headers of a request without a body.
    fn get_headers(&self) -> HeaderMap {
        without_body(self.with_session(self.base.clone()))
    }

    /// A new session starts without the old one's id, and without its standing stream.
    fn forget_session(&self) {
        *locked(&self.session) = None;
        *locked(&self.handshake) = None;
        if let Some(standing) = locked(&self.standing).take() {
            standing.abort();
        }
    }

    /// Keeps the session id that an answer brought. It is visible ASCII (2025-03-26, "Session Management").
    fn keep_session(&self, response: &Response) {
        let mut ids = response.headers().get_all(SESSION_ID).iter();
        let Some(id) = ids.next() else { return };
        if ids.next().is_some() {
            let message = "the answer carries more than one Mcp-Session-Id; the first is used".to_owned();
            self.remark_once("http-session-id-repeated", message);
        }
        if id.is_empty() || !id.as_bytes().iter().all(u8::is_ascii_graphic) {
            let message = "the Mcp-Session-Id holds other characters than visible ASCII".to_owned();
            self.remark_once("http-session-id-charset", message);
        }
        let mut id = id.clone();
        id.set_sensitive(true);
        *locked(&self.session) = Some(id);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("url", &display_url(&self.url)).finish_non_exhaustive()
    }
}

fn without_body(mut headers: HeaderMap) -> HeaderMap {
    headers.remove(CONTENT_TYPE);
    headers
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
